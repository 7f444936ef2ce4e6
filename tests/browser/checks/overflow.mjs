// A page never scrolls sideways; what is wide scrolls in a box of its own.

export const title = "overflow: no page scrolls sideways";

export async function inState(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const beyond = [...document.body.querySelectorAll("*")].filter((node) => node.getBoundingClientRect().right > width + 1);
    const named = beyond.slice(0, 3).map((node) => `${node.tagName.toLowerCase()}.${node.getAttribute("class") ?? ""}`);
    return [`${document.documentElement.scrollWidth - width} px too wide: ${named.join(", ")}`];
  });
}
