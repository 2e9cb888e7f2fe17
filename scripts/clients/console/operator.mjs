// An operator's day: the status of the site, holds, pools and nodes, and organizations' money, each by its page. An
// action that destroys or spends asks first and is done once; another operator's change is not overwritten; a lost answer
// is shown as an unknown outcome. A read-only operator sees no button that writes, an operator of one site sees that site
// alone, and a member sees nothing. Names with markup are shown as text, and each page stays small.
//
//   node operator.mjs SITE
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { until } from "../lib/member.mjs";
import { pagesFor } from "./lib/pages.mjs";
import { readSite } from "./lib/site.mjs";
import { during, visit } from "./lib/visit.mjs";

const site = readSite(process.argv[2]);
const HOSTILE = '<img src=x onerror="globalThis.ran = true">';
const ORG = "hostile";
const POOL = "walk-b200";
const MOST_REQUESTS = 24;
const MOST_BYTES = 60_000;
/** Buttons that only show something. */
const READS = /^(Show|Show more|Read again|Verify)$/;
const ledger = (org) => site.operator("GET", `/api/operator/orgs/${org}/billing/ledger`);

const browser = await launch();
await during(browser, async () => {
  const operator = await visit(browser, site.service, { state: site.states.operator });
  await showsTheSite(operator);
  await createsAPool(operator);
  await sharesAPool(operator);
  await evicts(operator);
  await holds(operator);
  await booksOnce(operator);
  await losesAnAnswer(operator);
  await leavesABooking(operator);
  await switchesTabs(operator);
  await asksBeforeASwitch(operator);
  await readsMoney(operator);
  await runsAJob(operator);
  await showsNamesAsText(operator);
  await operator.close();
  await isSmall();
  await mayOnlyRead();
  await isOfASite();
  await isAMember();
});

async function open({ page, settled }, address) {
  await page.goto(`${site.service}/operator${address}`);
  await settled();
}

/** The home page: figures, what needs an operator, and a link to each pool. */
async function showsTheSite(operator) {
  const { page, quiet, settled } = operator;
  await open(operator, "/");
  await page.getByRole("heading", { name: "Site status", level: 1 }).waitFor();
  const figure = (name) => page.locator(".figure", { has: page.getByText(name, { exact: true }) });
  const { pools } = await site.operator("GET", "/api/operator/status");
  const gpus = pools.reduce((sum, pool) => sum + pool.nodes.all * pool.gpus_per_node, 0);
  await figure("Utilization").getByText(`of ${gpus} GPUs held`).waitFor();
  assert.match(await figure("Revenue").textContent(), /\$\d/);
  assert.match(await figure("Demand").textContent(), /\d+ nodes?/);
  await site.operator("PATCH", "/api/operator/pools/north-h100", { paused: true, pause_reason: HOSTILE });
  await page.reload();
  await settled();
  const attention = page.getByRole("region", { name: "Needs attention" });
  // A process of the previous release may answer meanwhile, without the figures that it does not know.
  await page.route("**/api/operator/status", async (route) => {
    const { month, month_revenue_micros, failed_jobs, ...earlier } = await (await route.fetch()).json();
    for (const pool of earlier.pools) {
      for (const field of ["gpus_per_node", "unhealthy_nodes", "revenue_micros_per_hour"]) {
        delete pool[field];
      }
    }
    await route.fulfill({ json: earlier });
  });
  await page.reload();
  await settled();
  await attention.getByText(HOSTILE).waitFor();
  assert.doesNotMatch(await page.locator("main").textContent(), /NaN|undefined/);
  await page.unroute("**/api/operator/status");
  await attention.getByText(HOSTILE).waitFor();
  await attention.getByRole("link", { name: "north-h100" }).click();
  await page.getByRole("button", { name: "Resume market" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("clusters that are outbid lose nodes").waitFor();
  await dialog.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause market" }).waitFor();
  quiet();
  console.log("the home page shows the site, and a paused market that is resumed");
}

/** Creates a pool with its first node; a missing value is reported at its field. */
async function createsAPool(operator) {
  const { page, quiet, settled, refused } = operator;
  await open(operator, "/pools");
  await page.getByRole("button", { name: "Create a pool" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(POOL);
  await dialog.getByLabel("Site").fill("walk");
  await dialog.getByLabel("Machines").selectOption("simulated");
  await dialog.getByLabel("GPU model").fill(HOSTILE);
  await dialog.getByLabel("Reserve price").fill("9");
  await dialog.getByLabel("Highest price").fill("8");
  refused(422);
  await dialog.getByRole("button", { name: "Create pool" }).click();
  await dialog.locator("#field-reserve_price_per_gpu_hour-error").waitFor();
  await dialog.getByLabel("Reserve price").fill("1");
  await dialog.getByRole("button", { name: "Create pool" }).click();
  await page.getByRole("heading", { name: POOL, level: 1 }).waitFor();
  await settled();
  await page.getByRole("button", { name: "Add a node" }).click();
  await dialog.getByLabel("Name").fill(`${POOL}-1`);
  await dialog.getByRole("button", { name: "Add node" }).click();
  await page.getByRole("row", { name: new RegExp(`${POOL}-1`) }).waitFor();
  quiet();
  console.log("a pool and its first node are created");
}

/** Two operators at one pool: the later one, whose page shows the earlier terms, overwrites nothing unseen. */
async function sharesAPool(operator) {
  const { page, quiet, refused } = operator;
  const address = `/api/operator/pools/${POOL}`;
  await open(operator, `/pools/${POOL}`);
  const dialog = page.getByRole("dialog");
  const reserve = page.getByLabel("Reserve price");
  await reserve.fill("2");
  await reserve.press("Enter");
  await dialog.getByText("reserve_price_per_gpu_hour: 1 to 2").waitFor();
  // Another operator changes the pool before the answer, so the question appears again with the present terms.
  await site.operator("PATCH", address, { reserve_price_per_gpu_hour: 3 });
  await dialog.getByRole("button", { name: "Change the terms" }).click();
  await dialog.getByText("reserve_price_per_gpu_hour: 3 to 2").waitFor();
  // And faster than the write, after that look: the service refuses it.
  await page.route(`**${address}`, async (route) => {
    if (route.request().method() === "PATCH") {
      await site.operator("PATCH", address, { reserve_price_per_gpu_hour: 4 });
    }
    await route.continue();
  });
  refused(409);
  await until("the question is read", () => dialog.getByRole("button", { name: "Change the terms" }).isEnabled());
  await dialog.getByRole("button", { name: "Change the terms" }).click();
  await dialog.getByText("have changed since you read them").waitFor();
  await page.unroute(`**${address}`);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await site.operator("GET", address)).reserve_price_per_gpu_hour, 4);
  quiet();
  // Who loses nodes by a higher reserve price is named.
  await open(operator, "/pools/south-a100");
  await reserve.fill("3");
  await reserve.press("Enter");
  await dialog.getByText(/^globex-main of globex: 13 nodes, at most \$2\.40$/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // In a pool with more clusters than are read, the question does not say that nobody loses nodes.
  const clusters = "**/api/operator/clusters?pool=south-a100*";
  await page.route(clusters, (route) => route.fulfill({ json: { clusters: [], more: true, next: "a" } }));
  await reserve.press("Enter");
  await dialog.getByText("of the pool were checked").waitFor();
  assert.equal(await dialog.getByText("No cluster that holds nodes").count(), 0);
  await page.unroute(clusters);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  quiet();
  console.log("of two operators at one pool none overwrites what they have not seen");
}

/** An eviction names the cluster that loses the node as it is then, and is refused for another. */
async function evicts(operator) {
  const { page, quiet } = operator;
  const { nodes } = await site.operator("GET", "/api/operator/nodes?state=held&pool=south-a100&limit=500");
  const { node_id: id } = nodes.find((node) => node.cluster === "globex-main");
  await open(operator, "/pools/south-a100");
  await page.getByRole("button", { name: `Evict ${id}` }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("globex-main of globex loses the node at once").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await site.operator("GET", `/api/operator/nodes/${id}`)).state, "held");
  await page.getByRole("button", { name: `Evict ${id}` }).click();
  await dialog.getByLabel("Reason").fill("its fan is loud");
  const sent = page.waitForRequest((request) => request.url().endsWith(`/${id}/evict`));
  await dialog.getByRole("button", { name: "Evict" }).click();
  assert.deepEqual((await sent).postDataJSON(), { reason: "its fan is loud", cluster: "globex-main" });
  await dialog.waitFor({ state: "detached" });
  quiet();
  console.log("an eviction names who loses the node");
}

/** A hold that takes nodes names them and wants the name typed; one that takes none does not. */
async function holds(operator) {
  const { page, quiet, settled } = operator;
  await open(operator, "/organizations/globex");
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Retire" }).click();
  await dialog.getByText(/^It holds \d+ nodes?:$/).waitFor();
  await dialog.getByText("globex-main").waitFor();
  assert.equal(await dialog.getByRole("button", { name: "Retire" }).isEnabled(), false);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Reason").fill(HOSTILE);
  await page.getByLabel("Stage").selectOption("enforce");
  await page.getByRole("button", { name: "Put on hold" }).click();
  await dialog.getByText(/All nodes it holds are reclaimed, with all data on them: \d+ nodes?\./).waitFor();
  await dialog.getByText("globex-main").waitFor();
  assert.equal(await dialog.getByRole("button", { name: /^Hold and reclaim/ }).isEnabled(), false);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Stage").selectOption("notice");
  await page.getByRole("button", { name: "Put on hold" }).click();
  await dialog.getByText(/It keeps its nodes and is billed for them: \d+ nodes?\./).waitFor();
  await dialog.getByRole("button", { name: "Hold", exact: true }).click();
  await page.getByText("Held by an operator in stage notice").waitFor();
  const { operator_hold: hold } = await site.operator("GET", "/api/operator/orgs/globex/billing");
  assert.equal(hold.reason, HOSTILE);
  // A change begins with the hold that stands, and says what it changes.
  await page.reload();
  await settled();
  assert.equal(await page.getByLabel("Reason").inputValue(), HOSTILE);
  await page.getByLabel("Reason").fill("the card was stolen");
  await page.getByRole("button", { name: "Change hold" }).click();
  await dialog.getByText(`Reason: from “${HOSTILE}” to “the card was stolen”`).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Stage").selectOption("enforce");
  await page.getByRole("button", { name: "Change hold" }).click();
  await dialog.getByText("from notice to enforce").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await open(operator, "/holds");
  await page.getByRole("row", { name: /Globex/ }).getByText(HOSTILE).waitFor();
  await page.getByRole("button", { name: "Lift the hold of globex" }).click();
  await dialog.getByRole("button", { name: "Lift the hold" }).click();
  await page.getByText("No organization is on hold").waitFor();
  await page.getByRole("link", { name: "For money" }).click();
  await settled();
  assert.equal((await site.operator("GET", "/api/operator/orgs/globex/billing")).operator_hold, null);
  quiet();
  console.log("a hold names the nodes it takes, and is lifted");
}

/** A credit says its sum in words, and is booked once, however often it is pressed. */
async function booksOnce(operator) {
  const { page, toasted, quiet } = operator;
  await open(operator, "/organizations/globex");
  const before = (await ledger("globex")).transactions.length;
  const dialog = page.getByRole("dialog");
  await page.getByLabel("Amount").fill("1250.50");
  await page.getByLabel("Memo").fill(HOSTILE);
  await page.getByLabel("Amount").press("Enter");
  await dialog.getByText("one thousand two hundred fifty dollars and fifty cents").waitFor();
  await dialog.getByRole("button", { name: "Book the credit" }).dblclick();
  await dialog.waitFor({ state: "detached" });
  await toasted("The credit is booked");
  assert.equal((await ledger("globex")).transactions.length, before + 1);
  quiet();
  console.log("a credit that is pressed twice is booked once");
}

/** The answer to a booking is lost: the page says that the outcome is unknown, and pressing again books nothing more. */
async function losesAnAnswer(operator) {
  const { page, quiet, unreachable } = operator;
  await open(operator, "/organizations/globex");
  const before = (await ledger("globex")).transactions.length;
  const dialog = page.getByRole("dialog");
  await page.getByLabel("Amount").fill("-20");
  await page.getByRole("button", { name: "Book a credit" }).click();
  await dialog.getByText("minus twenty dollars").waitFor();
  unreachable();
  const address = "**/api/operator/orgs/globex/billing/credits";
  await page.route(address, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await dialog.getByRole("button", { name: "Debit $20.00" }).click();
  await dialog.getByText("it is unknown whether this was booked").waitFor();
  assert.equal((await ledger("globex")).transactions.length, before + 1);
  await page.unroute(address);
  // No answer at all, for as long as a page waits.
  await page.clock.install();
  await page.route(address, () => {});
  await dialog.getByRole("button", { name: "Debit $20.00" }).click();
  await dialog.getByText("Waiting for the answer").waitFor();
  await page.clock.fastForward("02:01");
  await dialog.getByText("it is unknown whether this was booked").waitFor();
  await page.unroute(address);
  await dialog.getByRole("button", { name: "Debit $20.00" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await ledger("globex")).transactions.length, before + 1);
  // A lost booking that was made is not taken for one of another amount.
  await page.getByLabel("Amount").fill("7");
  await page.getByRole("button", { name: "Book a credit" }).click();
  await page.route(address, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await dialog.getByRole("button", { name: "Book the credit" }).click();
  await dialog.getByText("it is unknown whether this was booked").waitFor();
  await page.unroute(address);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Amount").fill("8");
  await page.getByRole("button", { name: "Book a credit" }).click();
  await dialog.getByText("eight dollars").waitFor();
  await dialog.getByRole("button", { name: "Book the credit" }).click();
  await dialog.getByText("was made with another amount").waitFor();
  assert.equal((await ledger("globex")).transactions.length, before + 2);
  quiet();
  console.log("a booking whose answer is lost is booked once");
}

/**
 * The operator leaves the page of a booking that was sent: its failure is told, and the same booking from a new page, also
 * after a reload and a credit in between, is made once.
 */
async function leavesABooking(operator) {
  const { page, quiet, settled, toasted, unreachable } = operator;
  const address = "**/api/operator/orgs/globex/billing/payments";
  const dialog = page.getByRole("dialog");
  const bookPayment = async () => {
    await page.getByLabel("Amount").fill("500");
    await page.getByRole("button", { name: "Book a payment" }).click();
    await dialog.getByText("five hundred dollars").waitFor();
    await dialog.getByRole("button", { name: "Book the payment" }).click();
  };
  await open(operator, "/organizations");
  await page.getByRole("row", { name: /globex/ }).getByRole("link").click();
  await page.getByRole("heading", { name: "Globex", level: 1 }).waitFor();
  await settled();
  const before = (await ledger("globex")).transactions.length;
  let release;
  const left = new Promise((resolve) => (release = resolve));
  unreachable();
  await page.route(address, async (route) => {
    await route.fetch();
    await left;
    await route.abort();
  });
  await bookPayment();
  await dialog.getByText("Waiting for the answer").waitFor();
  await page.evaluate(() => history.back());
  await page.getByRole("heading", { name: "Organizations", level: 1 }).waitFor();
  release();
  await toasted("it is unknown whether this was booked");
  await page.unroute(address);
  await open(operator, "/organizations/globex");
  await page.getByLabel("Amount").fill("3");
  await page.getByLabel("Amount").press("Enter");
  await dialog.getByRole("button", { name: "Book the credit" }).click();
  await toasted("The credit is booked");
  await settled();
  await bookPayment();
  await toasted("This was booked before");
  assert.equal((await ledger("globex")).transactions.length, before + 2);
  // Its outcome is known now, so the same amount is another payment.
  await bookPayment();
  await toasted("The payment is booked");
  assert.equal((await ledger("globex")).transactions.length, before + 3);
  quiet();
  console.log("a booking reports its failure after its page was left, and is booked once");
}

/** The next page of a list does not get into another list that is shown by then. */
async function switchesTabs(operator) {
  const { page, quiet, settled } = operator;
  const address = "**/api/operator/orgs?held=money*";
  const held = (id) => ({
    org_id: id,
    display: id,
    kind: "standard",
    max_clusters: 20,
    created_at: "2026-03-01T10:00:00.000Z",
    retired_at: null,
    hold: { stage: "notice", reason: "balance", since: "2026-11-21T13:46:14.080Z", enforced: false, enforce_after_ms: 1000 },
    operator_hold: { stage: "enforce", reason: "a stolen card", since: "2026-11-21T13:46:14.080Z" },
  });
  let release;
  const switched = new Promise((resolve) => (release = resolve));
  let asked = 0;
  await page.route(address, async (route) => {
    if (!route.request().url().includes("after=")) {
      await route.fulfill({ json: { orgs: [held("first-held")], more: true, next: "first-held" } });
      return;
    }
    asked++;
    await switched;
    await route.fulfill({ json: { orgs: [held("second-held")], more: false, next: null } });
  });
  await open(operator, "/holds?held=money");
  // The tab of holds for money shows those, also for an organization that an operator holds.
  const row = page.getByRole("row", { name: /first-held/ });
  assert.match(await row.textContent(), /notice.*not enforced.*balance/s);
  assert.doesNotMatch(await row.textContent(), /stolen card/);
  await page.getByRole("button", { name: "Show more" }).dblclick();
  await page.getByRole("link", { name: "By operators" }).click();
  await page.getByText("No organization is on hold").waitFor();
  const answered = page.waitForResponse(address);
  release();
  await answered;
  await settled();
  assert.equal(await page.getByText("second-held").count(), 0);
  assert.equal(asked, 1);
  await page.unroute(address);
  quiet();
  console.log("a list stays apart from the next page of another");
}

/** Before a switch enforces holds, each organization whose hold is not enforced is named, whatever its reason. */
async function asksBeforeASwitch(operator) {
  const { page, quiet } = operator;
  const address = "**/api/operator/orgs?held=money*";
  const held = (id, reason) => ({ org_id: id, display: id, retired_at: null, hold: { stage: "grace", reason, enforced: false } });
  await page.route(address, (route) =>
    route.fulfill({
      json: route.request().url().includes("after=")
        ? { orgs: [held("last-held", "balance")], more: false, next: null }
        : { orgs: [held("first-held", "spend-limit")], more: true, next: "first-held" },
    }),
  );
  await open(operator, "/switches");
  const dialog = page.getByRole("dialog");
  for (const title of ["Spend limits", "Billing holds"]) {
    await page.getByRole("region", { name: title }).getByRole("button", { name: "Turn on" }).click();
    await dialog.getByText("They may lose their nodes").waitFor();
    await dialog.getByText("first-held: spend-limit").waitFor();
    await dialog.getByText("last-held: balance").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
  }
  await page.unroute(address);
  quiet();
  console.log("a switch names the organizations that it may take nodes from");
}

/** The ledger, the usage and the statements of an organization, as it reads them. */
async function readsMoney(operator) {
  const { page, quiet, settled } = operator;
  await open(operator, "/organizations/globex?show=ledger");
  await page.getByRole("row", { name: /credit/ }).filter({ hasText: HOSTILE }).filter({ hasText: "$1,250.50" }).waitFor();
  await page.getByRole("row", { name: /adjustment/ }).filter({ hasText: "-$20.00" }).waitFor();
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("row", { name: /globex-main/ }).first().waitFor();
  await page.getByRole("link", { name: "Statements" }).click();
  await page.getByRole("table", { name: "Statements" }).getByRole("link").first().click();
  await settled();
  const statement = page.locator("section", { has: page.locator("#statement") });
  assert.match(await statement.textContent(), /\$6,260\.50/);
  quiet();
  console.log("the ledger, the usage and the statement of an organization are shown");
}

async function runsAJob(operator) {
  const { page, toasted, quiet } = operator;
  await open(operator, "/jobs");
  await page.getByRole("button", { name: "Run now: reencrypt-secrets" }).click();
  await toasted("reencrypt-secrets is running");
  quiet();
  console.log("a job is run");
}

/** Whatever names hold, each page shows it as text. */
async function showsNamesAsText(operator) {
  const { page, quiet } = operator;
  await site.operator("POST", "/api/operator/orgs", { org_id: ORG, display: HOSTILE, kind: "standard" });
  await site.operator("PUT", `/api/operator/orgs/${ORG}/hold`, { stage: "notice", reason: HOSTILE });
  const pages = [
    ...(await pagesFor("operator", site.subjects)).map(({ address }) => address.slice("/operator".length)),
    ...["", "?show=ledger", "?show=usage", "?show=statements", "?show=clusters"].map((show) => `/organizations/${ORG}${show}`),
    `/pools/${POOL}`,
    "/organizations/globex?show=ledger",
    `/trail?org=${ORG}`,
  ];
  for (const address of pages) {
    await open(operator, address);
    assert.equal(await page.locator('img[src="x"]').count(), 0, address);
    assert.equal(await page.evaluate(() => globalThis.ran), undefined, address);
  }
  await open(operator, `/organizations/${ORG}`);
  await page.getByRole("heading", { name: HOSTILE, level: 1 }).waitFor();
  await page.getByRole("button", { name: "Lift hold" }).click();
  await page.getByRole("dialog").getByRole("heading", { name: HOSTILE }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Lift the hold" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  quiet();
  console.log(`${pages.length} addresses show hostile names as text`);
}

/** What a browser that was never here fetches for each page. */
async function isSmall() {
  let largest = 0;
  let most = 0;
  for (const { address } of await pagesFor("operator", site.subjects)) {
    const { page, context, settled, close } = await visit(browser, site.service, { state: site.states.operator });
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    let requests = 0;
    let bytes = 0;
    devtools.on("Network.requestWillBeSent", () => requests++);
    devtools.on("Network.loadingFinished", (one) => (bytes += one.encodedDataLength));
    await page.goto(site.service + address);
    await settled();
    assert.ok(requests <= MOST_REQUESTS, `${address}: ${requests} requests`);
    assert.ok(bytes <= MOST_BYTES, `${address}: ${bytes} bytes`);
    [largest, most] = [Math.max(largest, bytes), Math.max(most, requests)];
    await close();
  }
  console.log(`each page is at most ${(largest / 1000).toFixed(1)} kB in ${most} requests`);
}

/** A browser signed in with a new token. */
async function signedIn(token) {
  const { token: secret } = await site.operator("POST", "/api/operator/operators", token);
  const visitor = await visit(browser, site.service);
  const answer = await visitor.context.request.post(`${site.service}/api/operator/session`, {
    data: { token: secret },
    headers: { Origin: site.service },
  });
  assert.equal(answer.status(), 200);
  return visitor;
}

async function mayOnlyRead() {
  const reader = await signedIn({ name: "reader", read_only: true });
  for (const { address } of await pagesFor("operator", site.subjects)) {
    await reader.page.goto(site.service + address);
    await reader.settled();
    const names = await reader.page
      .locator("main button:visible:not(.sort)")
      .evaluateAll((all) => all.map((one) => (one.ariaLabel || one.textContent).trim()));
    assert.deepEqual(names.filter((name) => !READS.test(name)), [], `${address}: buttons of a read-only operator`);
  }
  const write = await reader.context.request.delete(`${site.service}/api/operator/orgs/globex/hold`, { headers: { Origin: site.service } });
  assert.equal(write.status(), 403);
  await reader.close();
  console.log("a read-only operator sees no button that writes");
}

async function isOfASite() {
  const local = await signedIn({ name: "north", site: "north" });
  await open(local, "/");
  await local.page.getByRole("heading", { name: "Pools", level: 1 }).waitFor();
  assert.deepEqual(await local.page.getByRole("navigation", { name: "Console" }).getByRole("link").allTextContents(), ["Pools"]);
  assert.equal(await local.page.getByRole("button", { name: "Create a pool" }).count(), 0);
  await open(local, "/pools/north-h100");
  assert.equal(await local.page.getByRole("button", { name: "Pause market" }).count(), 0);
  await local.close();
  console.log("an operator of one site sees its pools alone");
}

/** A member's session opens no page of operators, and none of their operations. */
async function isAMember() {
  const member = await visit(browser, site.service, { state: site.states.member });
  member.tolerated(401);
  for (const { address } of await pagesFor("operator", site.subjects)) {
    await member.page.goto(site.service + address);
    await member.page.getByRole("heading", { name: "Operators", level: 1 }).waitFor();
    assert.equal(await member.page.locator("bourse-table, .figure").count(), 0, address);
  }
  const { csrf } = await (await member.context.request.get(`${site.service}/api/console/session`)).json();
  const { paths } = await (await fetch(`${site.service}/api/operator/openapi.json`, { headers: { Authorization: `Bearer ${site.operatorToken}` } })).json();
  let tried = 0;
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of Object.keys(operations).filter((one) => /^(get|put|post|delete|patch)$/.test(one))) {
      if (path === "/api/operator/session" && method === "post") {
        continue;
      }
      const answer = await member.context.request.fetch(site.service + path.replaceAll(/\{\w+\}/g, "x"), {
        method,
        headers: { Origin: site.service, "X-CSRF-Token": csrf },
      });
      assert.equal(answer.status(), 401, `${method} ${path}`);
      tried++;
    }
  }
  assert.ok(tried > 80, `${tried} operations`);
  await member.close();
  console.log(`a member is refused ${tried} operations of operators`);
}
