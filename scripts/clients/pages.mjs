// Opens published pages full of attacks in Chromium, and shows that none of them works; and that each works
// on a server that serves the same bytes without a thought, so that none fails for a reason of its own.
//
//   node pages.mjs SERVICE TOKEN FOLDER PORT
//
// SERVICE is the service's address, TOKEN a member's. FOLDER holds the files as they were published, and
// published.tsv, which has a line of file name, media type and id for each. PORT is where the attacks report
// to, on localhost: this program listens there.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import assert from "node:assert/strict";
import { launch } from "./lib/browser.mjs";
import { PATIENCE_MS } from "./lib/member.mjs";

const [service, token, folder, port] = process.argv.slice(2);
const listener = `http://localhost:${port}`;
const SECRET = "cookie-of-a-user";
const TITLE = "A model card";
const LEAST_WAIT_MS = 1_000;

const files = readFileSync(join(folder, "published.tsv"), "utf8")
  .trim()
  .split("\n")
  .map((line) => line.split("\t"))
  .map(([name, type, id]) => ({ name, type, id, bytes: readFileSync(join(folder, name)) }));
const pages = files.filter((file) => !file.name.endsWith(".js"));
const script = files.find((file) => file.name.endsWith(".js"));

// What attacks reported: "ran/NAME" for a script that ran, "asked/NAME" for a request of the page.
let reports = new Map();
const server = createServer((request, response) => {
  const url = new URL(request.url, listener);
  const [, kind, name] = url.pathname.split("/");
  if (kind === "control") {
    const file = files.find((one) => one.name === name);
    response.setHeader("Content-Type", file.type).end(file.bytes);
    return;
  }
  if (kind === "login") {
    // Cookies are a host's, whatever the port: this one goes to the service too.
    response.setHeader("Set-Cookie", `session=${SECRET}; Path=/`).end("in");
    return;
  }
  if (!["ran", "asked", "script"].includes(kind)) {
    // The browser's own wishes, such as an icon for this listener's pages.
    response.writeHead(404).end();
    return;
  }
  reports.set(`${kind}/${name}`, decodeURIComponent(url.search.slice(1)));
  if (kind === "script") {
    response.setHeader("Content-Type", "text/javascript").end(`run('${name}')`);
  } else {
    response.setHeader("Access-Control-Allow-Origin", "*").end();
  }
});
await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));

/** What a file's attacks report where they work. */
function attacksOf(file) {
  const text = file.bytes.toString();
  const found = new Set();
  for (const [, name] of text.matchAll(/run\('([\w-]+)'\)/g)) {
    found.add(`ran/${name}`);
  }
  for (const [, attack] of text.matchAll(/((?:ran|asked|script)\/[\w-]+)["')]/g)) {
    found.add(attack);
  }
  for (const [, name] of text.matchAll(/script\/([\w-]+)"/g)) {
    found.add(`ran/${name}`);
  }
  if (text.includes(script.id)) {
    found.add("ran/stored-script");
  }
  return found;
}

const missing = (wanted) => [...wanted].filter((attack) => !reports.has(attack));

/** Opens a page as a user who is logged in, clicks all there is to click, and waits for reports. */
async function visit(browser, url, headers, enough) {
  const context = await browser.newContext({ acceptDownloads: true });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("dialog", (dialog) => dialog.dismiss());
  await page.goto(`${listener}/login`);
  reports = new Map();
  said.length = 0;
  await context.setExtraHTTPHeaders(headers);
  const began = performance.now();
  const response = await page.goto(url, { waitUntil: "commit" });
  const headersSent = await response.request().allHeaders();
  await page.waitForLoadState("domcontentloaded");
  const boxes = [];
  for (const place of await page.locator(".click").all()) {
    boxes.push(await place.boundingBox());
  }
  for (const box of boxes) {
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  }
  while (!enough(performance.now() - began)) {
    await pause(20);
  }
  return { context, page, response, said, headersSent, took: performance.now() - began };
}

async function control(browser, file) {
  const attacks = attacksOf(file);
  const { context, said, took } = await visit(
    browser,
    `${listener}/control/${file.name}`,
    {},
    (elapsed) => missing(attacks).length === 0 || elapsed > PATIENCE_MS,
  );
  await context.close();
  assert.deepEqual(missing(attacks), [], `${file.name}: attacks that fail by themselves prove nothing`);
  const ran = [...attacks].filter((attack) => attack.startsWith("ran/"));
  if (ran.length > 0) {
    assert(said.some((text) => text.startsWith("ran ")), `${file.name}: no message of a script`);
    assert(
      [...reports.values()].some((value) => value.includes(SECRET)),
      `${file.name}: no script read the cookie`,
    );
  }
  return { attacks: attacks.size, took };
}

async function served(browser, file, path, headers, waitMs) {
  const what = `${path} (${file.name})`;
  const { context, page, response, said, headersSent } = await visit(
    browser,
    service + path,
    headers,
    (elapsed) => elapsed > waitMs,
  );
  assert.equal(response.status(), 200, what);
  assert.equal(await response.headerValue("content-type"), file.type, what);
  assert.match(headersSent.cookie ?? "", new RegExp(SECRET), `${what}: there was no cookie to steal`);
  assert.deepEqual([...reports.keys()], [], `${what}: attacks worked`);
  assert.deepEqual(said.filter((text) => text.startsWith("ran ")), [], what);
  assert.equal(page.url(), service + path + (page.url().endsWith("#") ? "#" : ""), `${what}: led elsewhere`);
  // Shown it is, and not a page of the browser's about an error.
  assert.equal(await page.locator("#shown").count(), 1, what);
  const title = await page.locator("title").first().textContent();
  assert.equal(title, TITLE, what);
  // And could a script run after all, it would find neither cookie nor origin.
  const reach = await page.evaluate(() => {
    try {
      return `cookie ${document.cookie}`;
    } catch (e) {
      return `${e.name} ${self.origin}`;
    }
  });
  assert.equal(reach, "SecurityError null", what);
  await context.close();
}

async function saved(browser, file, path) {
  const context = await browser.newContext({ acceptDownloads: true });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  reports = new Map();
  const download = page.waitForEvent("download");
  await page.goto(service + path).then(
    () => assert.fail(`${path} is shown, not saved`),
    (e) => assert.match(e.message, /Download is starting|ERR_ABORTED/),
  );
  const got = await download;
  assert.equal(got.suggestedFilename(), file.name);
  assert.deepEqual(readFileSync(await got.path()), file.bytes, `${path}: other bytes`);
  assert.equal(reports.size, 0, path);
  await context.close();
}

const browser = await launch();
try {
  for (const file of pages) {
    const { attacks, took } = await control(browser, file);
    // Three times what the attacks took where they worked.
    const waitMs = Math.max(LEAST_WAIT_MS, 3 * took);
    await served(browser, file, `/api/checkpoints/public/${file.id}/content`, {}, waitMs);
    await served(
      browser,
      file,
      `/api/checkpoints/${file.id}/content`,
      { Authorization: `Bearer ${token}` },
      waitMs,
    );
    await saved(browser, file, `/api/checkpoints/public/${file.id}/content?download=1`);
    console.log(`${file.name} as ${file.type}: ${attacks} attacks, all work elsewhere, none here`);
  }
  await saved(browser, script, `/api/checkpoints/public/${script.id}/content`);
  console.log(`${script.name} as ${script.type}: saved, not shown; all are with ?download=1`);
} finally {
  await browser.close();
  server.close();
  server.closeAllConnections();
}
