// Every link inside the site leads to a page that is there, and to a place on it; every page has its names.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "links: pages, files and anchors exist; title and description are a page's own";

export async function onSite(site) {
  const pages = new Map();
  for (const path of [...site.pages, "404.html"]) {
    const html = await readFile(join(site.folder, path.endsWith("/") || !path ? `${path}index.html` : path), "utf8");
    pages.set(path, read(html));
  }
  const problems = [];
  for (const [path, page] of pages) {
    for (const link of page.links) {
      const problem = await follow(site, pages, path, page.base, link);
      if (problem) problems.push(`${path || "home"}: ${link}: ${problem}`);
    }
  }
  return [...problems, ...unnamed(pages)];
}

function read(html) {
  const attribute = (pattern) => [...html.matchAll(pattern)].map((found) => found[1].replaceAll("&amp;", "&"));
  const ids = attribute(/<\w[^<>]*\sid="([^"]*)"/g);
  return {
    links: new Set(attribute(/<\w[^<>]*\s(?:href|src)="([^"]*)"/g)),
    ids: new Set(ids),
    twins: ids.filter((id, i) => ids.indexOf(id) !== i),
    base: attribute(/<base href="([^"]*)"/g)[0],
    title: attribute(/<title>([^<]*)/g)[0],
    preview: attribute(/property="og:title" content="([^"]+)"/g)[0],
    description: attribute(/name="description" content="([^"]+)"/g)[0],
    told: attribute(/property="og:description" content="([^"]+)"/g)[0],
  };
}

async function follow(site, pages, path, base, link) {
  const target = new URL(link, base ? site.url : site.url + path);
  if (target.origin !== site.origin || !target.href.startsWith(site.url)) {
    return link === base || /^(https?|mailto|data):/.test(link) ? "" : "leads out of the site";
  }
  const place = target.href.slice(site.url.length).split("#")[0];
  const page = pages.get(place) ?? pages.get(place.replace(/index\.html$/, ""));
  if (page) return !target.hash || page.ids.has(decodeURIComponent(target.hash.slice(1))) ? "" : "there is no such place";
  return (await fetch(target, { method: "HEAD" })).ok ? "" : "there is no such file";
}

function unnamed(pages) {
  const problems = [];
  const seen = { title: new Map(), description: new Map() };
  for (const [path, page] of pages) {
    const where = path || "home";
    for (const id of page.twins) problems.push(`${where}: two elements have the id ${id}`);
    for (const name of ["title", "preview", "description", "told"]) if (!page[name]) problems.push(`${where}: no ${name}`);
    if (path === "404.html") continue;
    for (const name of ["title", "description"]) {
      if (seen[name].has(page[name])) problems.push(`${where}: the same ${name} as ${seen[name].get(page[name])}`);
      seen[name].set(page[name], where);
    }
  }
  return problems;
}
