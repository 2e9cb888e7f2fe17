// A member chooses mails on the account page. The link of such a mail fills in the ceiling that keeps the nodes, and
// declares nothing.
//
//   node mails.mjs SITE
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { readSite } from "./lib/site.mjs";
import { during, visit } from "./lib/visit.mjs";

const site = readSite(process.argv[2]);

const browser = await launch();
await during(browser, async () => {
  const alice = await visit(browser, site.service, { state: site.states.member });
  await choosesMails(alice);
  await followsALink(alice);
  await alice.close();
});

async function choosesMails({ page, settled, toasted, quiet }) {
  const notices = page.getByLabel("Preemption notices");
  await page.goto(`${site.service}/console/account`);
  await notices.selectOption("at-once");
  await page.getByLabel("Failed nodes").selectOption("digest");
  await page.locator("#mails").getByRole("button", { name: "Save" }).click();
  await toasted("Saved.");
  await page.reload();
  await settled();
  assert.equal(await notices.inputValue(), "at-once");
  assert.equal(await page.getByLabel("Failed nodes").inputValue(), "digest");
  assert.equal(await page.getByLabel("Billing holds").inputValue(), "off");
  await notices.selectOption("off");
  await page.locator("#mails").getByRole("button", { name: "Save" }).click();
  await toasted("Saved.");
  quiet();
  console.log("choices of mails are stored");
}

async function followsALink({ page, settled, quiet }) {
  const read = () => site.program(site.acmeToken, "GET", "/api/vm/capacity?cluster=acme-train");
  const before = await read();
  const outlook = "**/api/vm/capacity/outlook?cluster=*";
  await page.route(outlook, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), keep_price_per_gpu_hour: 5.01 } });
  });
  await page.goto(`${site.service}/console/clusters/acme-train?ceiling=keep`);
  await page.getByText(/At today’s bids this ceiling keeps the nodes that higher bids would take\. It applies once you declare it\./).waitFor();
  await settled();
  assert.equal(await page.getByLabel("Ceiling, a GPU-hour").inputValue(), "5.01");
  assert.equal((await read()).version, before.version, "opening the link declares nothing");
  await page.goto(`${site.service}/console/clusters/acme-train`);
  await settled();
  assert.notEqual(await page.getByLabel("Ceiling, a GPU-hour").inputValue(), "5.01");
  await page.unroute(outlook);
  quiet();
  console.log("a mail's link fills in the ceiling and declares nothing");
}
