// A button on each block of code that copies it: of a session what was typed, without prompts and answers.

const PROMPT = /^(>>>|\.\.\.) ?/;

function typed(text) {
  if (!PROMPT.test(text)) return text;
  return text.split("\n").filter((line) => PROMPT.test(line)).map((line) => line.replace(PROMPT, "")).join("\n") + "\n";
}

function addButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "ap-copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(typed(block.querySelector("code").textContent));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  block.append(button);
}

// Only pages that came by a safe way, or from the reader's own machine, may write to the clipboard.
if (navigator.clipboard) document.querySelectorAll(".highlight").forEach(addButton);
