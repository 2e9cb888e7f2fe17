// Looks something up in the documentation with Chromium: the search box finds an operation and a section of
// a guide, and no page asks for anything that its policy forbids.
//
//   node docs.mjs SERVICE
import assert from "node:assert/strict";
import { launch } from "./lib/browser.mjs";

const [service] = process.argv.slice(2);
const browser = await launch();
try {
  const page = await browser.newPage();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));

  // look WORDS PATH: types the words, opens what has that path, and says what stands there.
  const look = async (words, path) => {
    await page.goto(`${service}/docs`);
    await page.keyboard.press("/");
    await page.keyboard.type(words);
    await page.click(`#found a[href="${path}"]`);
    const [where, id] = path.split("#");
    await page.waitForURL(`${service}${where}*`);
    assert.ok(await page.locator(`[id="${id}"]`).isVisible(), `${path} is not shown`);
    console.log(`"${words}" leads to ${path}`);
  };
  await look("replace held node", "/docs/reference/vm#swapNode");
  await look("swap lapses", "/docs/guides/capacity#swap-a-node");

  await page.goto(`${service}/docs`);
  await page.fill("#search", "no such words anywhere");
  await page.waitForSelector("#found >> text=Nothing found");
  for (const link of await page.locator("nav a").all()) {
    const path = await link.getAttribute("href");
    const answer = await page.request.get(service + path);
    assert.equal(answer.status(), 200, path);
  }
  assert.deepEqual(faults, []);
} finally {
  await browser.close();
}
