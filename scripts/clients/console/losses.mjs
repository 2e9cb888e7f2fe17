// Nothing is lost without being asked: declarations sent with the Enter key before any preview, with previews that fail,
// hang or are slow, twice, by a key held down, over another writer's, and while nodes are granted; ends and budgets; bids,
// retirements, limits and money likewise. The overview foresees what the market takes.
//
//   node losses.mjs SITE
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { until } from "../lib/member.mjs";
import { readSite } from "./lib/site.mjs";
import { during, visit } from "./lib/visit.mjs";

const site = readSite(process.argv[2]);
const PREVIEW = "**/api/vm/capacity/preview";
const BID_PREVIEW = "**/api/k8s/bid/preview";
const OUTLOOK = /\/api\/(vm\/capacity|k8s\/bid)\/outlook\?cluster=/;
const PRICE = 3.5;

const browser = await launch();
await during(browser, async () => {
  const before = await state();
  assert.equal(held(before), 2, "the walk begins with two nodes");
  const alice = await visit(browser, site.service, { state: site.states.member });
  await saysNothing(alice);
  await foresees(alice);
  await asksForFewer(alice);
  await isCancelled(await visit(browser, site.service, { state: site.states.member }));
  await asksForEnds(alice);
  await saysWhen(alice);
  await asksForProtection(alice);
  await asksWithoutAPreview(alice);
  await isLeft(alice);
  await sendsOnce(alice);
  await isHeldDown(alice);
  await isChangedMeanwhile(alice);
  await asksAgain(alice);
  await asksForABid(alice);
  await followsABid(alice);
  await asksAgainToRetire(alice);
  await alice.close();
  await asksForTerms(await visit(browser, site.service, { state: site.states.operator }));
  await asksForMoney(await visit(browser, site.service, { state: site.states.operator }));
  const after = await state();
  assert.deepEqual(addresses(after), addresses(before), "both nodes are held as before");
});

/** The declaration and the nodes, as programs read them. */
async function state() {
  return site.program(site.acmeToken, "GET", "/api/vm/capacity?cluster=acme-train");
}

function addresses({ allocations }) {
  return allocations.map(({ public_ip: address, state: now }) => `${address} ${now}`).sort();
}

function held({ allocations }) {
  return allocations.filter(({ state: now }) => now === "active").length;
}

/** Declares beside the browser. */
async function declare(token, cluster, gpus, price, more = {}) {
  const { version } = await site.program(token, "GET", `/api/vm/capacity?cluster=${cluster}`);
  await site.program(token, "PUT", "/api/vm/capacity", {
    cluster,
    max_gpus: gpus,
    max_price_per_gpu_hour: price,
    expected_version: version,
    ...more,
  });
}

/** Answers reads of what matches `address` with what `change` makes of the service's answer. */
async function altered(page, address, change) {
  await page.route(address, async (route) => {
    if (route.request().method() === "GET" || address === PREVIEW) {
      const response = await route.fetch();
      await route.fulfill({ response, json: change(await response.json()) });
    } else {
      await route.continue();
    }
  });
}

/** The writes that `page` sends from now on. */
function writesOf(page) {
  const writes = [];
  page.on("request", (request) => {
    if (["PUT", "DELETE"].includes(request.method())) {
      writes.push(request.url());
    }
  });
  return writes;
}

async function open({ page, settled }, cluster = "clusters/acme-train") {
  await page.goto(`${site.service}/console/${cluster}`);
  await settled();
  return {
    gpus: page.getByLabel("GPUs wanted"),
    ceiling: page.getByLabel("Ceiling, a GPU-hour"),
    dialog: page.getByRole("dialog"),
    preview: page.getByRole("region", { name: "What it would do" }),
  };
}

/** Shows that nothing was declared, and closes the question. */
async function decline(dialog, version) {
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  const now = await state();
  assert.deepEqual([now.version, held(now)], [version, 2], "nothing was sent");
}

/** The preview of an unchanged or empty form is empty; its figures belong to the typed values. */
async function saysNothing(alice) {
  const { gpus, ceiling, preview } = await open(alice);
  const nothing = preview.getByText("to see the cost and the nodes.");
  await nothing.waitFor();
  await gpus.fill("24");
  await ceiling.fill("4.20");
  // The first figures shown belong to the typed values.
  await preview.locator(".figure").first().waitFor();
  assert.match(await preview.textContent(), /\$100\.80/);
  await gpus.fill("");
  await nothing.waitFor();
  assert.equal(await preview.locator(".figure").count(), 0);
  alice.quiet();
  console.log("an unchanged form and an empty one foresee nothing");
}

/** The overview says which nodes the market takes and what keeps them, for each cluster that can lose or wants some. */
async function foresees({ page, settled, quiet, refused }) {
  const loss = { by: "market", reclaim_at: "2099-01-01T00:00:00Z", protected_until: null };
  const changes = {
    "acme-train": { losses: [{ ...loss, public_ip: "192.0.2.9" }], keep_price_per_gpu_hour: 5.01 },
    "acme-k8s": { losses: [{ ...loss, name: "demo-h100-00009" }], keep_price_per_gpu_hour: 4.02 },
    "acme-batch": { pending_price_per_gpu_hour: 2.41 },
  };
  let asked = 0;
  await page.route(OUTLOOK, async (route) => {
    asked++;
    const response = await route.fetch();
    const answer = await response.json();
    await route.fulfill({ response, json: { ...answer, ...changes[answer.cluster] } });
  });
  await page.goto(`${site.service}/console/`);
  await settled();
  const row = (name) => page.locator(`#cluster-${name}`);
  await row("acme-train").getByText(/^At today’s bids you lose 1 node at .*A ceiling of \$5\.01 keeps all nodes\.$/).waitFor();
  await row("acme-k8s").getByText(/^At today’s bids you lose 1 node at .*A ceiling of \$4\.02 keeps all nodes\.$/).waitFor();
  await row("acme-batch").getByText(/^A ceiling of \$2\.41 wins all pending nodes/).waitFor();
  await page.unroute(OUTLOOK);
  // Without a change the outlook is not read again, and a later refusal keeps the outlook on the page.
  assert.equal(asked, 3);
  await page.route(OUTLOOK, (route) => {
    asked++;
    return route.fulfill({ status: 503, headers: { "Retry-After": "600" }, json: { error: "overloaded", detail: "busy", retry_after_s: 600 } });
  });
  const refresh = async (later) => {
    await page.evaluate((millis) => {
      const { now } = Date;
      Date.now = () => now() + millis;
      return document.querySelector("bourse-overview").refresh();
    }, later);
    await settled();
  };
  await refresh(0);
  assert.equal(asked, 3);
  for (let i = 0; i < 3; i++) {
    refused(503);
  }
  await refresh(61_000);
  await until("all are asked for again", () => asked === 6);
  await settled();
  await row("acme-train").getByText(/^At today’s bids you lose 1 node at /).waitFor();
  await refresh(61_000);
  assert.equal(asked, 6);
  await page.unroute(OUTLOOK);
  quiet();
  console.log("the overview foresees losses");
}

/** Eight GPUs and Enter, before any preview: the node that goes is named first. */
async function asksForFewer(alice) {
  const { version } = await state();
  const { gpus, dialog } = await open(alice);
  await gpus.fill("8");
  await gpus.press("Enter");
  await dialog.getByRole("heading", { name: "Release 1 node?" }).waitFor();
  assert.match(await dialog.textContent(), /\d+\.\d+\.\d+\.\d+/);
  await decline(dialog, version);
  await gpus.fill("0");
  await gpus.press("Enter");
  await dialog.getByRole("button", { name: "Release everything" }).waitFor();
  assert.equal(await dialog.getByRole("listitem").count(), 2);
  await decline(dialog, version);
  alice.quiet();
  console.log("fewer GPUs and Enter ask, with the nodes that go");
}

/** A third node is granted while the question stands: the answer asks again, with that node. */
async function asksAgain(alice) {
  const { version: before, allocations } = await state();
  const known = allocations.map(({ public_ip: address }) => address);
  await declare(site.acmeToken, "acme-train", 24, PRICE);
  const { gpus, dialog } = await open(alice);
  await gpus.fill("16");
  await gpus.press("Enter");
  await dialog.getByText("No node is taken back for that.").waitFor();
  await declare(site.globexToken, "globex-main", 96, 2.4);
  await until("the third node", async () => held(await state()) === 3);
  await dialog.getByRole("button", { name: "Declare anyway" }).click();
  await dialog.getByText("This has changed since you were asked. Nothing was sent.").waitFor();
  await dialog.getByRole("heading", { name: "Release 1 node?" }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  const now = await state();
  assert.deepEqual([now.version, held(now)], [before + 1, 3], "nothing was sent");
  const [third] = now.allocations.map(({ public_ip: address }) => address).filter((address) => !known.includes(address));
  // The rival's bid comes first, so that no other cluster gets the node.
  await declare(site.globexToken, "globex-main", 104, 2.4);
  await declare(site.acmeToken, "acme-train", 16, PRICE, { release: [third] });
  await until("two nodes", async () => (await state()).allocations.length === 2);
  assert.deepEqual(addresses(await state()), addresses({ allocations }));
  await until("the rival's nodes", async () => {
    const rival = await site.program(site.globexToken, "GET", "/api/vm/capacity?cluster=globex-main");
    return held(rival) === 13;
  });
  alice.quiet();
  console.log("a node that is granted while the question stands is asked for");
}

/** Cancel and Escape end a declaration that waits to be sent again. */
async function isCancelled(alice) {
  const { page } = alice;
  const { version } = await state();
  const { gpus, dialog } = await open(alice);
  // A delayed test presses Cancel within these five minutes; then the page's clock is set forward past their end.
  const refusal = { error: "rate-limited", reason: "cadence", detail: "too soon", retry_after_s: 300 };
  await page.clock.install();
  let refused = 0;
  await page.route("**/api/vm/capacity", async (route) => {
    if (route.request().method() === "PUT" && refused++ === 0) {
      await route.fulfill({ status: 429, json: refusal });
    } else {
      await route.continue();
    }
  });
  alice.tolerated(429);
  for (const cancel of [() => dialog.getByRole("button", { name: "Cancel" }).click(), () => page.keyboard.press("Escape")]) {
    refused = 0;
    await gpus.fill("8");
    await gpus.press("Enter");
    await dialog.getByRole("button", { name: "Release 1 node" }).click();
    await until("the refusal", async () => refused === 1);
    // The button has this name from the answer on, while the write waits.
    await dialog.getByRole("button", { name: "Cancel" }).waitFor();
    await cancel();
    await dialog.waitFor({ state: "detached" });
    // Past the time at which the write would be sent again.
    await page.clock.fastForward(301_000);
    await page.waitForTimeout(1_000);
    await alice.settled();
    const now = await state();
    assert.deepEqual([refused, now.version, held(now)], [1, version, 2], "nothing was sent after Cancel");
  }
  await page.unroute("**/api/vm/capacity");
  alice.quiet();
  await alice.close();
  console.log("Cancel and Escape end a declaration that waits");
}

/** They are open already where the cluster has one. */
async function openConditions(page) {
  const conditions = page.locator("#conditions");
  if (!(await conditions.evaluate((details) => details.open))) {
    await conditions.locator("summary").click();
  }
}

/** An end and a budget give back all nodes. */
async function asksForEnds(alice) {
  const { page } = alice;
  const { version } = await state();
  const { dialog } = await open(alice);
  const form = page.locator("#declaration");
  const end = form.getByLabel(/^End\b/);
  await openConditions(page);
  await end.fill(
    await page.evaluate(() => {
      const soon = new Date(Date.now() + 120_000 - new Date().getTimezoneOffset() * 60_000);
      return soon.toISOString().slice(0, 16);
    }),
  );
  await end.press("Enter");
  await dialog.getByText(/All 2 nodes are given back at .*\d+:\d+/).waitFor();
  await decline(dialog, version);
  await page.getByRole("button", { name: "Discard changes" }).click();
  await openConditions(page);
  const budget = form.getByLabel(/^Budget\b/);
  await budget.fill("50");
  await budget.press("Enter");
  await dialog.getByText("All 2 nodes are given back when $50.00 is spent.").waitFor();
  await decline(dialog, version);
  alice.quiet();
  console.log("an end and a budget ask, with when all nodes are given back");
}

/** Notices that end apart, tomorrow and later: the first end, with its time of day. */
async function saysWhen(alice) {
  const { page } = alice;
  const { version } = await state();
  const { ceiling, dialog } = await open(alice);
  await altered(page, PREVIEW, (preview) => ({
    ...preview,
    losses: [30, 60, null].map((hours, i) => ({
      public_ip: `192.0.2.${i}`,
      by: "notice",
      reclaim_at: hours && new Date(Date.now() + hours * 3_600_000).toISOString(),
      protected_until: null,
    })),
  }));
  await ceiling.fill("3.20");
  await ceiling.press("Enter");
  await dialog.getByText(/you lose 3 nodes, the first at .*\d+:\d+.*, when the notice is over:/).waitFor();
  await decline(dialog, version);
  await page.unroute(PREVIEW);
  alice.quiet();
  console.log("notices that end apart name the first end");
}

/** A ceiling under the rival's: protection ends, and the nodes go at the next tick. */
async function asksForProtection(alice) {
  const { version } = await state();
  const { ceiling, dialog } = await open(alice);
  // Two nodes more than there are, which the rival would take from a lower bid.
  await declare(site.globexToken, "globex-main", 120, 2.4);
  await ceiling.fill("2.00");
  await ceiling.press("Enter");
  await dialog.getByText(/This ends \d+ minutes? of protection on 2 nodes/).waitFor();
  await dialog.getByText(/At today’s bids you lose 2 nodes at \d+:\d+/).waitFor();
  await decline(dialog, version);
  await declare(site.globexToken, "globex-main", 104, 2.4);
  alice.quiet();
  console.log("a lower ceiling asks, with the protection that ends and when the nodes go");
}

/** A preview that fails, and one that hangs: the reader is asked all the same. */
async function asksWithoutAPreview(alice) {
  const { page } = alice;
  const { version } = await state();
  const { gpus, dialog } = await open(alice);
  const question = dialog.getByRole("heading", { name: "Declare 8 GPUs without a preview?" });
  alice.tolerated(503);
  await page.route(PREVIEW, (route) =>
    route.fulfill({ status: 503, json: { error: "overloaded", detail: "too many previews; try again in 60 s", retry_after_s: 60 } }),
  );
  await gpus.fill("8");
  await gpus.press("Enter");
  await question.waitFor();
  await dialog.getByText("1 node is taken back at once").waitFor();
  await decline(dialog, version);
  await page.unroute(PREVIEW);
  await page.evaluate(() => {
    AbortSignal.timeout = globalThis.ownTimeout;
  });
  const hanging = [];
  await page.route(PREVIEW, (route) => hanging.push(route));
  await gpus.press("Enter");
  await question.waitFor();
  await decline(dialog, version);
  await page.unroute(PREVIEW);
  alice.quiet();
  console.log("a preview that fails or hangs asks with the last known state");
}

/** A form that is discarded, changed or left during a slow preview is not sent, and asks nothing. */
async function isLeft(alice) {
  const { page, toasted } = alice;
  const { version } = await state();
  const writes = writesOf(page);
  // Previews of typing and of Enter both wait; previews after the answer continue at once.
  let waiting = [];
  let isHeld = true;
  await page.route(PREVIEW, (route) => (isHeld ? waiting.push(route) : route.continue().catch(() => {})));
  const answer = async () => {
    isHeld = false;
    await Promise.all(waiting.map((route) => route.continue().catch(() => {})));
    waiting = [];
  };
  const hold = () => {
    isHeld = true;
  };
  const { ceiling, gpus, dialog } = await open(alice);
  await ceiling.fill("4.44");
  await ceiling.press("Enter");
  await until("the preview", async () => waiting.length > 0);
  await page.getByRole("button", { name: "Discard changes" }).click();
  await answer();
  hold();
  await ceiling.fill("4.55");
  await ceiling.press("Enter");
  await until("the preview", async () => waiting.length > 0);
  await gpus.fill("40");
  await answer();
  await toasted("The form changed during the check. Nothing was declared.");
  assert.equal(await gpus.inputValue(), "40");
  hold();
  await gpus.fill("0");
  await gpus.press("Enter");
  await until("the preview", async () => waiting.length > 0);
  await page.getByRole("navigation").getByRole("link", { name: "SSH keys" }).click();
  await page.getByRole("heading", { name: "SSH keys", level: 1 }).waitFor();
  await answer();
  await page.unroute(PREVIEW);
  await alice.settled();
  assert.equal(await dialog.count(), 0, "no question on another page");
  assert.deepEqual(writes, []);
  assert.equal((await state()).version, version);
  alice.quiet();
  console.log("a form that is discarded, changed or left during a slow preview is not sent");
}

/** Enter twice, where nothing is lost: one write. */
async function sendsOnce(alice) {
  const { page, toasted } = alice;
  const { version } = await state();
  const writes = writesOf(page);
  const { ceiling } = await open(alice);
  await ceiling.fill("3.55");
  await ceiling.press("Enter");
  await ceiling.press("Enter");
  await until("the ceiling", async () => (await state()).declared.max_price_per_gpu_hour === 3.55);
  await page.getByText("Change a field to see the cost and the nodes.").waitFor();
  await alice.settled();
  // The second press may have shown the same toast.
  await page.evaluate(() => globalThis.toasts.splice(0));
  await ceiling.press("Enter");
  await toasted("This is in force already.");
  await alice.settled();
  assert.equal(writes.length, 1, "one write");
  assert.equal((await state()).version, version + 1);
  alice.quiet();
  console.log("Enter twice sent one declaration");
}

/** A key held down sends once, and does not answer the question. */
async function isHeldDown(alice) {
  const { page } = alice;
  const { version } = await state();
  const { gpus, dialog } = await open(alice);
  await gpus.fill("8");
  for (let i = 0; i < 5; i++) {
    await page.keyboard.down("Enter");
  }
  await dialog.getByRole("heading", { name: "Release 1 node?" }).waitFor();
  for (let i = 0; i < 5; i++) {
    await page.keyboard.down("Enter");
  }
  await page.keyboard.up("Enter");
  assert.equal(await dialog.count(), 1, "the question stands");
  await decline(dialog, version);
  alice.quiet();
  console.log("a key that is held down asks once");
}

/** Somebody else declares while the question stands: the answer is refused, and both sides are shown. */
async function isChangedMeanwhile(alice) {
  const { page } = alice;
  const { gpus, dialog } = await open(alice);
  await gpus.fill("8");
  await gpus.press("Enter");
  await dialog.getByRole("heading", { name: "Release 1 node?" }).waitFor();
  await declare(site.acmeToken, "acme-train", 16, PRICE);
  const { version } = await state();
  alice.tolerated(409);
  await dialog.getByRole("button", { name: "Release 1 node" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("alert").filter({ hasText: "Somebody changed this" }).waitFor();
  const now = await state();
  assert.deepEqual([now.version, held(now)], [version, 2]);
  alice.quiet();
  console.log("a yes to a cluster that changed since is refused");
}

async function readBid() {
  return site.program(site.acmeToken, "GET", "/api/k8s/clusters/acme-k8s");
}

/** A bid for a Kubernetes cluster is previewed and confirmed as a declaration is. Its nodes are shown by name. */
async function asksForABid(alice) {
  const { page } = alice;
  const {
    version,
    planned_release: [node],
  } = await readBid();
  const writes = writesOf(page);
  const { gpus, ceiling, dialog, preview } = await open(alice, "kubernetes/acme-k8s");
  const cancel = async () => {
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await gpus.fill("0");
  await gpus.press("Enter");
  await dialog.getByRole("heading", { name: "Release everything of acme-k8s?" }).waitFor();
  await dialog.getByText(node).waitFor();
  await cancel();
  await preview.getByText(node).waitFor();
  alice.tolerated(503);
  await page.route(BID_PREVIEW, (route) =>
    route.fulfill({ status: 503, json: { error: "overloaded", detail: "too many previews; try again in 60 s", retry_after_s: 60 } }),
  );
  await gpus.press("Enter");
  await dialog.getByRole("heading", { name: "Declare 0 GPUs without a preview?" }).waitFor();
  await cancel();
  await page.unroute(BID_PREVIEW);
  // A bid without a size would keep the one that stands.
  alice.tolerated(422);
  await gpus.fill("");
  await gpus.press("Enter");
  await page.locator("#field-max_gpus-error").waitFor();
  await page.getByRole("button", { name: "Discard changes" }).click();
  await ceiling.fill("2.50");
  await ceiling.press("Enter");
  await dialog.getByText(/This ends \d+ minutes? of protection/).waitFor();
  await cancel();
  await page.getByRole("button", { name: `Swap ${node}` }).click();
  await dialog.getByRole("heading", { name: `Swap ${node} for another machine?` }).waitFor();
  await cancel();
  assert.deepEqual(writes, []);
  assert.equal((await readBid()).version, version);
  assert.doesNotMatch(await page.getByRole("main").textContent(), /\d+\.\d+\.\d+\.\d+/, "no address of a node");
  alice.quiet();
  console.log("a bid for fewer GPUs is confirmed first, and the question names the lost node");
}

/** The page of a Kubernetes cluster shows bids of others, and sends a bid that loses no node without a question. */
async function followsABid(alice) {
  const { page, toasted } = alice;
  const { version, bid } = await readBid();
  const { ceiling } = await open(alice, "kubernetes/acme-k8s");
  await page.getByText("live", { exact: true }).waitFor();
  const raised = Number((bid.limit_price_per_gpu_hour + 0.01).toFixed(2));
  await site.program(site.acmeToken, "PUT", "/api/k8s/bid", {
    cluster: "acme-k8s",
    limit_price_per_gpu_hour: raised,
    expected_version: version,
  });
  await until("the ceiling of the other writer", async () => Number(await ceiling.inputValue()) === raised);
  await page.getByRole("table", { name: "Activity" }).getByText(`at $${raised.toFixed(2)}`).first().waitFor();
  await page.getByLabel("The ceiling would win fewer than").fill("2");
  await page.getByRole("button", { name: "Set the alerts" }).click();
  await toasted("The alerts are in force from the next tick on");
  const alerts = await site.program(site.acmeToken, "GET", "/api/k8s/alerts?cluster=acme-k8s");
  assert.equal(alerts.supply_under_nodes, 2);
  await ceiling.fill((raised + 0.01).toFixed(2));
  await ceiling.press("Enter");
  await ceiling.press("Enter");
  await until("the bid", async () => (await readBid()).version === version + 2);
  await page.getByText("Change a field to see the cost and the nodes.").waitFor();
  assert.equal((await readBid()).version, version + 2, "one write");
  alice.quiet();
  console.log("the page of a Kubernetes cluster is live, and sends one bid for two Enters");
}

/** A node that is granted while the question stands is not retired with the others. */
async function asksAgainToRetire({ page, settled, quiet }) {
  const address = "**/api/vm/capacity?cluster=acme-train";
  const writes = writesOf(page);
  let reads = 0;
  await altered(page, address, (cluster) =>
    reads++ === 0
      ? cluster
      : { ...cluster, allocations: [...cluster.allocations, { ...cluster.allocations[0], public_ip: "192.0.2.9" }] },
  );
  await page.goto(`${site.service}/console/clusters`);
  await settled();
  await page.getByRole("button", { name: "Retire acme-train" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Type acme-train to go on").fill("acme-train");
  await dialog.getByRole("button", { name: "Give back 2 nodes and retire" }).click();
  await dialog.getByRole("button", { name: "Give back 3 nodes and retire" }).waitFor();
  await dialog.getByText("192.0.2.9").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.unroute(address);
  assert.deepEqual(writes, []);
  quiet();
  console.log("a node that is granted meanwhile is not retired unasked");
}

/** Terms are shown as they are, and not as the page read them. */
async function asksForTerms({ page, settled, close }) {
  const address = "**/api/operator/pools/south-a100";
  const writes = writesOf(page);
  await page.goto(`${site.service}/operator/pools/south-a100`);
  await settled();
  await altered(page, address, (pool) => ({ ...pool, max_price_cap_per_gpu_hour: 9 }));
  await page.getByLabel("Highest price").fill("10");
  await page.getByLabel("Highest price").press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("max_price_cap_per_gpu_hour: 9 to 10").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(writes, []);
  await close();
  console.log("terms ask with the pool as it is");
}

/** Credits and limits are booked once an operator has agreed to the sum. */
async function asksForMoney({ page, settled, quiet, close }) {
  const billing = () => site.operator("GET", "/api/operator/orgs/globex/billing");
  const before = (await billing()).balance_micros;
  await page.goto(`${site.service}/operator/organizations/globex`);
  await settled();
  const dialog = page.getByRole("dialog");
  await page.getByLabel("Amount").fill("25");
  await page.getByLabel("Amount").press("Enter");
  await dialog.getByRole("heading", { name: /^Book a credit of \$25\.00 for Globex/ }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Amount").fill("-25");
  await page.getByLabel("Amount").press("Enter");
  await dialog.getByRole("heading", { name: "Debit Globex $25.00?" }).waitFor();
  await dialog.getByRole("button", { name: "Debit $25.00" }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // The usage as it is, and not as the page read it.
  const address = "**/api/operator/orgs/globex/billing";
  await altered(page, address, (answer) => ({ ...answer, month_usage_micros: 50_000_000 }));
  await page.getByLabel("A month").fill("49");
  await page.getByLabel("A month").press("Enter");
  await dialog.getByRole("heading", { name: "Limit Globex to $49.00 a month?" }).waitFor();
  await dialog.getByText(/\$50\.00 are used in/).waitFor();
  await dialog.getByText(/its nodes are reclaimed|The limit is reached/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const after = await billing();
  assert.ok(after.balance_micros <= before, "nothing was booked");
  assert.equal(after.spend_limit_micros, null);
  quiet();
  await close();
  console.log("money asks first");
}
