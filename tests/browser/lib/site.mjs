// Serve a built site as a host would: compressed, below a base path that the build doesn't know.

import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";

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
  ".woff2": "font/woff2",
  ".xml": "application/xml",
};
const COMPRESSED = new Set([".css", ".html", ".js", ".json", ".mjs", ".svg", ".wasm", ".xml"]);

/**
 * Serve a folder; `pages` lists the addresses of its pages, relative to `url`, and `sent()` how many bytes of
 * content went over the line so far.
 */
export async function serve(folder) {
  let sent = 0;
  const server = createServer(async (request, response) => {
    const { status, headers, body } = await answer(folder, new URL(request.url, "http://localhost").pathname);
    response.writeHead(status, headers);
    response.end(request.method === "HEAD" ? "" : body);
    sent += request.method === "HEAD" ? 0 : body.length;
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { folder, origin, url: origin + BASE, pages: await pagesOf(folder), sent: () => sent, close: () => server.close() };
}

async function pagesOf(folder) {
  const files = await readdir(folder, { recursive: true });
  return files
    .filter((file) => file.endsWith("index.html"))
    .map((file) => file.slice(0, -"index.html".length))
    .sort();
}

async function answer(folder, path) {
  const found = path.startsWith(BASE) ? await fileAt(folder, decodeURIComponent(path.slice(BASE.length))) : null;
  const { name, content } = found ?? (await fileAt(folder, "404.html"));
  const headers = { "content-type": TYPES[extname(name)] ?? "application/octet-stream", "cache-control": "max-age=600" };
  const isCompressed = COMPRESSED.has(extname(name));
  if (isCompressed) headers["content-encoding"] = "gzip";
  return { status: found ? 200 : 404, headers, body: isCompressed ? gzipSync(content) : content };
}

async function fileAt(folder, path) {
  const name = join(folder, path.endsWith("/") || path === "" ? `${path}index.html` : path);
  if (relative(folder, name).startsWith("..")) return null;
  const content = await readFile(name).catch(() => null);
  return content && { name, content };
}
