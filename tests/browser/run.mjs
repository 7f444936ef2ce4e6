// Measure a built site: `node run.mjs SITE_DIR [check …]`. Prints a table; the exit code tells whether all is well.
//
// A check is a file in checks/ with a `title` and either
//   inState(page)          called on every page, in every look and state (lib/states.mjs), or
//   onSite(site, browser)  called once;
// both return a list of problems, and onSite may return { problems, measured } with lines for the table.

import { readdir } from "node:fs/promises";
import { resolve } from "node:path";

import { launch, LOOKS, profile } from "./lib/browser.mjs";
import { serve } from "./lib/site.mjs";
import { visit } from "./lib/states.mjs";

const MOST = 40; // problems of one check that are listed

async function main([folder, ...names]) {
  const site = await serve(resolve(folder));
  const browser = await launch();
  const checks = await load(names);
  try {
    const reports = await everyPage(site, browser, checks.filter((check) => check.inState));
    reports.forEach(print);
    for (const check of checks.filter((check) => check.onSite)) {
      reports.push(await once(site, browser, check));
      print(reports.at(-1));
    }
    const failed = reports.filter((report) => report.problems.length).length;
    console.log(`\n${reports.length - failed} passed, ${failed} failed`);
    return failed;
  } finally {
    await browser.close();
    site.close();
  }
}

async function load(names) {
  const files = (await readdir(new URL("checks/", import.meta.url))).filter((file) => file.endsWith(".mjs")).sort();
  const wanted = files.filter((file) => !names.length || names.includes(file.replace(".mjs", "")));
  if (!wanted.length) throw new Error(`there is no such check; there are ${files.join(", ")}`);
  return Promise.all(wanted.map((file) => import(`./checks/${file}`)));
}

/** Look at every page in every look; two looks at a time, since a machine has two cores at least. */
async function everyPage(site, browser, checks) {
  if (!checks.length) return [];
  const start = Date.now();
  const problems = new Map(checks.map((check) => [check, []]));
  const looks = [...LOOKS];
  const worker = async () => {
    for (let look; (look = looks.shift()); ) await visit(site, await profile(browser, look), look, problems);
  };
  await Promise.all([worker(), worker()]);
  const seconds = (Date.now() - start) / 1000;
  return checks.map((check) => ({ title: check.title, problems: problems.get(check), measured: [], seconds }));
}

async function once(site, browser, check) {
  const start = Date.now();
  const result = await check.onSite(site, browser).catch((error) => [`the check itself failed: ${error.stack}`]);
  const { problems, measured = [] } = Array.isArray(result) ? { problems: result } : result;
  return { title: check.title, problems, measured, seconds: (Date.now() - start) / 1000 };
}

function print({ title, problems, measured, seconds }) {
  console.log(`${problems.length ? "FAIL" : "ok  "} ${title} (${seconds.toFixed(0)} s)`);
  for (const line of measured) console.log(`       ${line}`);
  for (const line of problems.slice(0, MOST)) console.log(`     ! ${line}`);
  if (problems.length > MOST) console.log(`     ! and ${problems.length - MOST} more`);
}

process.exitCode = (await main(process.argv.slice(2))) ? 1 : 0;
