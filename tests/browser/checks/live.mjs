// Work every control of every live figure with the keyboard alone, and see that the figure follows and comes back.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { profile, within } from "../lib/browser.mjs";

export const title = "live figures: each control, by keyboard, changes the drawing and what is read out";

const BACK = { ArrowRight: "ArrowLeft", ArrowLeft: "ArrowRight", ArrowDown: "ArrowUp", ArrowUp: "ArrowDown", " ": " " };
const KEYS = { checkbox: [" "], "select-one": ["ArrowDown", "ArrowUp"], grid: ["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft"] };
const ALONG = ["ArrowRight", "ArrowLeft"];

export async function onSite(site, browser) {
  const context = await profile(browser);
  const problems = [];
  let worked = 0;
  for (const path of site.pages) {
    if (!(await readFile(join(site.folder, path, "index.html"), "utf8")).includes("data-steps=")) continue;
    await within(context, site.url + path, async (page) => {
      for (const figure of await page.locator("figure[data-frames]").all()) {
        const name = `${path}, ${await figure.getAttribute("id")}`;
        const results = await workAll(page, figure);
        const expected = await figure.locator("[data-steps]").count();
        if (results.size !== expected) problems.push(`${name}: Tab reaches ${results.size} of ${expected} controls`);
        for (const [at, found] of results) problems.push(...found.map((problem) => `${name}, control ${at}: ${problem}`));
        worked += results.size;
      }
    });
  }
  await context.close();
  if (!worked) problems.push("there is no live figure");
  return { problems, measured: [`${worked} controls worked`] };
}

/** Work each control; those that do nothing at first, once more after the first control was moved. */
async function workAll(page, figure) {
  const results = new Map();
  for await (const at of reached(page, figure)) results.set(at, await work(page, figure));
  if (![...results.values()].includes(IDLE)) return results;
  for await (const at of reached(page, figure)) {
    if (at === 0) await page.keyboard.press("ArrowRight");
    else if (results.get(at) === IDLE) results.set(at, await work(page, figure));
  }
  return results;
}

/** Go through a figure with Tab from its beginning, and tell each control that is reached, once. */
async function* reached(page, figure) {
  const seen = new Set();
  await figure.evaluate((node) => {
    node.tabIndex = -1;
    node.focus();
  });
  for (;;) {
    await page.keyboard.press("Tab");
    const at = (await state(figure)).focused;
    if (at < 0) return;
    if (!seen.has(at)) yield at; // a control may have several fields
    seen.add(at);
  }
}

const IDLE = ["no key changes the drawing"];

async function work(page, figure) {
  const before = await state(figure);
  const { kind, isSeen } = await page.evaluate(() => ({
    kind: document.activeElement.closest(".ap-cells") ? "grid" : document.activeElement.type,
    isSeen: getComputedStyle(document.activeElement).outlineStyle !== "none",
  }));
  const problems = isSeen ? [] : ["shows no focus"];
  if (kind === "text") return [...problems, ...(await type(page, figure, before))];
  let moves = 0;
  for (const key of KEYS[kind] ?? ALONG) {
    await page.keyboard.press(key);
    const after = await state(figure);
    if (after.focused !== before.focused) problems.push("loses the focus");
    if (after.drawing === before.drawing) continue; // at its last step, or nothing to see
    moves += 1;
    if (after.finding === before.finding && kind !== "grid") problems.push(`${key}: nothing is read out`);
    if (kind === "range" && after.texts === before.texts) problems.push("its text stays");
    await page.keyboard.press(BACK[key]);
    const again = await state(figure);
    if (JSON.stringify(again) !== JSON.stringify(before)) problems.push(`${key}: does not come back`);
    if (kind !== "grid") break;
  }
  if (kind === "grid" && moves < 3) problems.push("not every arrow key moves");
  return moves ? problems : IDLE;
}

/** Fill in the first of the known answers, field by field. */
async function type(page, figure, before) {
  const [answer] = JSON.parse(await figure.locator("[data-answers]").getAttribute("data-answers"));
  for (const number of answer) {
    await page.keyboard.type(String(number));
    await page.keyboard.press("Tab");
  }
  const after = await state(figure);
  const parts = ["drawing", "finding", "table"].filter((part) => after[part] === before[part]);
  return parts.map((part) => `with an answer typed, the ${part} stays`);
}

/** Read what a figure shows, once it has its frames. */
async function state(figure) {
  await figure.locator("xpath=self::*[not(@aria-busy)]").waitFor({ state: "attached" });
  return figure.evaluate((node) => ({
    drawing: [...node.querySelectorAll(".ap-drawing svg")].map((svg) => svg.outerHTML).join(""),
    finding: node.querySelector("[aria-live=polite]").textContent,
    table: node.querySelector(".ap-same").innerHTML,
    texts: [...node.querySelectorAll("[aria-valuetext]")].map((range) => range.getAttribute("aria-valuetext")).join(),
    focused: [...node.querySelectorAll("[data-steps]")].indexOf(document.activeElement.closest("[data-steps]")),
  }));
}
