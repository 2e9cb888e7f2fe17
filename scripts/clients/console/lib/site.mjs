// The service that the programs of this folder try, as scripts/lib/console-site has raised it: where it is, where
// its mails are, and what an operator and a program may ask of it.
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

/** What `console-site` wrote to `file`, with ways to ask the service beside the browser. */
export function readSite(file) {
  const site = JSON.parse(readFileSync(file, "utf8"));
  return {
    ...site,
    /** As an operator: the answer's body, which must come with a status below 400. */
    operator: (method, path, body) => ask(site.service, site.operatorToken, method, path, body),
    /** As the holder of `token`. */
    program: (token, method, path, body) => ask(site.service, token, method, path, body),
  };
}

async function ask(service, token, method, path, body) {
  const response = await fetch(service + path, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  assert(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
