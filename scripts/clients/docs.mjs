// Reads the documentation with Chromium: the search box finds operations, sections of guides and the words that
// people know from other services, code can be copied, axe-core finds nothing on any page on a phone in dark and on
// one page of each kind at a desk in light, and no page asks for anything that its policy forbids.
//
//   node docs.mjs SERVICE
import assert from "node:assert/strict";
import { fits, isAccessible } from "./console/lib/look.mjs";
import { launch } from "./lib/browser.mjs";
import { PATIENCE_MS, until } from "./lib/member.mjs";

const [service] = process.argv.slice(2);
const browser = await launch();
try {
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: service });
  const page = await context.newPage();
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
  for (const word of ["preempt", "cancel", "invoice", "refund", "kubeconfig", "reservation", "api key", "spot price"]) {
    await page.fill("#search", word);
    await page.waitForSelector(`#found li:first-child a[href^="/docs/guides/glossary#"] >> text=/${word}/i`);
  }
  console.log("words of other services lead to the glossary");

  await page.fill("#search", "no such words anywhere");
  await page.waitForSelector("#found >> text=Nothing found");

  // A stranger learns what the service is, with commands for this one.
  await page.goto(service);
  await page.getByRole("heading", { name: "GPU capacity at a market price", level: 1 }).waitFor();
  await page.getByText(`bourse login --url ${service}`).waitFor();
  await page.getByRole("link", { name: "Install the command line" }).click();
  await page.getByText(`curl -fsSL ${service}/install/install.sh | sh`).waitFor();
  console.log("the front page leads to the command line");

  await page.goto(`${service}/docs/guides/capacity`);
  const code = page.locator("main .code").first();
  // The word is shown for two seconds, in which a busy machine may not look.
  await code.locator("button").evaluate((button) => {
    window.said = [];
    new MutationObserver(() => window.said.push(button.textContent)).observe(button, { childList: true });
  });
  await code.locator("button").click();
  await until("the word Copied", () => page.evaluate(() => window.said.includes("Copied")));
  assert.equal(`${await page.evaluate(() => navigator.clipboard.readText())}\n`, await code.locator("pre").textContent());
  await code.locator("pre").focus();
  assert.ok(await code.locator("pre").evaluate((block) => block === document.activeElement), "code takes no focus");

  const paths = await page.locator("nav > ul > li > a").evaluateAll((all) => all.map((link) => link.pathname));
  // The templates of pages have the same colours everywhere, so one page of each is enough for them.
  const looks = [
    ["a phone, dark", { width: 390, height: 844 }, "dark", ["/", "/install", "/docs", ...paths]],
    ["a desk, light", { width: 1280, height: 800 }, "light", ["/", "/install", "/docs", "/docs/guides/capacity", "/docs/reference/vm"]],
  ];
  for (const [name, viewport, colorScheme, all] of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    for (const path of all) {
      const answer = await page.goto(service + path);
      assert.equal(answer.status(), 200, path);
      for (const judge of [isAccessible, fits]) {
        await judge(page, `${path} on ${name}`).catch((fault) => faults.push(fault.message));
      }
    }
    console.log(`${all.length} pages looked at on ${name}`);
  }
  assert.deepEqual(faults, []);
} finally {
  await browser.close();
}
