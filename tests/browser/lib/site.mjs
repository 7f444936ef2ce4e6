// Serve a built site as a host would: compressed, below a base path that the build doesn't know.

import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, relative } from "node:path";
import { createGzip } from "node:zlib";

const BASE = "/some/sub/path/";
const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".xml": "application/xml",
};
const COMPRESSED = new Set([".css", ".html", ".js", ".json", ".mjs", ".svg", ".wasm", ".xml"]);

/** Serve a folder; `pages` lists the addresses of its pages, relative to `url`. */
export async function serve(folder) {
  const server = createServer((request, response) => answer(folder, request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { folder, origin, url: origin + BASE, pages: await pagesOf(folder), close: () => server.close() };
}

async function pagesOf(folder) {
  const files = await readdir(folder, { recursive: true });
  return files
    .filter((file) => file.endsWith("index.html"))
    .map((file) => file.slice(0, -"index.html".length))
    .sort();
}

async function answer(folder, request, response) {
  const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  const found = path.startsWith(BASE) ? await fileAt(folder, path.slice(BASE.length)) : "";
  const file = found || join(folder, "404.html");
  const headers = { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "cache-control": "max-age=600" };
  const isCompressed = COMPRESSED.has(extname(file));
  if (isCompressed) headers["content-encoding"] = "gzip";
  response.writeHead(found ? 200 : 404, headers);
  if (request.method === "HEAD") response.end();
  else if (isCompressed) createReadStream(file).pipe(createGzip()).pipe(response);
  else createReadStream(file).pipe(response);
}

async function fileAt(folder, path) {
  const file = join(folder, path.endsWith("/") || path === "" ? `${path}index.html` : path);
  if (relative(folder, file).startsWith("..")) return "";
  return (await stat(file).catch(() => null))?.isFile() ? file : "";
}
