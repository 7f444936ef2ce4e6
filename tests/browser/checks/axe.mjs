// Hold every page to WCAG 2.2 AA and to axe's best practices.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

export const title = "axe: WCAG 2.2 AA and best practices, 0 violations in every look and state";
export const isSlow = true;

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export async function inState(page) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  const { violations } = await page.evaluate(
    (runOnly) => axe.run(document, { runOnly, resultTypes: ["violations"], elementRef: false }),
    rules,
  );
  return violations.map(({ id, nodes }) => {
    const [{ target, any, all, none }] = nodes;
    const why = [...any, ...all, ...none][0]?.message ?? "";
    return `${id}, ${nodes.length} times, first at ${target.join(" ")}: ${why}`;
  });
}
