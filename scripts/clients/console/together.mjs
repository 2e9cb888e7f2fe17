// Two people at one cluster, one of whom puts the declaration under a minimum, an end and a budget; an operator who
// changes how long before a node goes its holder is told; a page that is hidden for a while; and one whose session ends
// under a half-filled form: nobody loses what they typed.
//
//   node together.mjs SITE
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { launch } from "../lib/browser.mjs";
import { linkFor, mails, signIn, until } from "../lib/member.mjs";
import { asSignedIn } from "./lib/member.mjs";
import { readSite } from "./lib/site.mjs";
import { during, visit } from "./lib/visit.mjs";

const site = readSite(process.argv[2]);
const CLUSTER = `${site.service}/console/clusters/acme-train`;
// The service takes each key once, so this one is new.
const WIRE = Buffer.concat([Buffer.from("AAAAC3NzaC1lZDI1NTE5AAAAIA==", "base64").subarray(0, 19), randomBytes(32)]);
const KEY = `ssh-ed25519 ${WIRE.toString("base64")} bob@laptop`;

const browser = await launch();
await during(browser, async () => {
  const bob = await enter("bob@acme.example");
  await conflict(await visit(browser, site.service, { state: site.states.member }), bob);
  await conditions(bob);
  await alerts(bob);
  await rests(bob);
  await notice(await visit(browser, site.service, { state: site.states.operator }));
  await ended(bob);
});

/** A page that was hidden for a while closes its stream, and follows again once it is shown. */
async function rests({ context }) {
  const page = await context.newPage();
  await page.goto(CLUSTER);
  const state = () => page.evaluate(() => document.querySelector("bourse-cluster")?.follower?.source.readyState);
  const show = (isShown) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, !isShown);
  const becomes = (what, wanted) => until(what, async () => (await state()) === wanted);
  await becomes("the stream is open", 1);
  await page.clock.install();
  // From here on its time is what this says, however slow the machine is.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 30_000);
  await show(false);
  await page.clock.fastForward(3_000);
  assert.equal(await state(), 1, "a page that was just hidden keeps its stream");
  await page.clock.fastForward(8_000);
  assert.equal(await state(), 2, "a page that was hidden for a while has closed its stream");
  await page.clock.resume();
  await show(true);
  await becomes("the stream is open again", 1);
  await page.close();
  console.log("a hidden page closed its stream, and followed again when it was shown");
}

/** Somebody new in this browser, signed in. */
async function enter(email) {
  const visitor = await visit(browser, site.service);
  await visitor.page.goto(`${site.service}/sign-in?return_to=/console/`);
  await signIn(visitor.page, email, site.outbox);
  await visitor.page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  return visitor;
}

function gpus(page) {
  return page.getByLabel("GPUs wanted");
}

function declare(page) {
  return page.getByRole("button", { name: "Declare", exact: true });
}

/** Shows that `page` tells by itself that so many are wanted. */
async function wanted(page, number) {
  await page.locator(".figure", { hasText: "Wanted" }).getByText(`${number} GPUs`).waitFor();
}

async function conflict(alice, bob) {
  for (const { page, settled } of [alice, bob]) {
    await page.goto(CLUSTER);
    await settled();
    await wanted(page, 16);
  }
  await gpus(alice.page).fill("32");
  await gpus(bob.page).fill("24");
  await declare(bob.page).click();
  await wanted(bob.page, 24);
  // Alice sees both, hers and his, and goes on with hers.
  await wanted(alice.page, 24);
  const both = alice.page.getByRole("alert").filter({ hasText: "Somebody changed this" });
  await both.getByRole("cell", { name: "24" }).waitFor();
  await both.getByRole("cell", { name: "32" }).waitFor();
  await alice.page.getByRole("button", { name: "Go on with mine" }).click();
  await declare(alice.page).click();
  await wanted(alice.page, 32);
  await wanted(bob.page, 32);
  // Bob typed nothing since, so his form has what is in force.
  await bob.page.waitForFunction(() => document.querySelector("#field-max_gpus").value === "32");
  await gpus(alice.page).fill("16");
  await declare(alice.page).click();
  // Fewer GPUs are asked for first, even where no node goes.
  await alice.page.getByRole("dialog").getByRole("button", { name: /^(Declare anyway|Release)/ }).click();
  await wanted(bob.page, 16);
  bob.quiet();
  await alice.close();
  console.log("two people changed one cluster; each saw what the other did, and nothing was lost");
}

/** A figure of what the declaration would do. */
function foreseen(page, label) {
  return page.locator("#preview .figure", { hasText: label });
}

/** What is declared for the cluster, as programs read it. */
async function declaredNow() {
  return (await site.program(site.acmeToken, "GET", "/api/vm/capacity?cluster=acme-train")).declared;
}

/** Sets a minimum, an end and a budget, sees first what that means, and clears the budget again. */
async function conditions({ page, settled, quiet }) {
  await page.goto(CLUSTER);
  await settled();
  await page.getByText("Minimum, end, budget").click();
  const minimum = page.getByRole("spinbutton", { name: /^Minimum/ });
  const budget = page.getByRole("spinbutton", { name: /^Budget/ });
  // What would be refused is said at its field before anything is sent.
  await minimum.fill("12");
  await page.locator("#field-min_gpus-error").filter({ hasText: "multiple of gpus_per_node" }).waitFor();
  await minimum.fill("128");
  await gpus(page).fill("128");
  await foreseen(page, "Minimum").getByText("128 GPUs").waitFor();
  // At this ceiling all of the rival's nodes could be won, and a hundred more could not, whatever the ceiling.
  await minimum.fill("240");
  await gpus(page).fill("240");
  await page.locator("#minimum-missed").filter({ hasText: "whatever the ceiling" }).waitFor();
  await gpus(page).fill("16");
  await minimum.fill("16");
  await budget.fill("0");
  await page.locator("#field-max_spend_usd-error").filter({ hasText: "at least 0.01" }).waitFor();
  await budget.fill("150");
  await foreseen(page, "In all").getByText("$150.00").waitFor();
  // An hour of sixteen GPUs at the ceiling is less than the budget.
  const end = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 3_600_000);
  const local = new Date(end.getTime() - end.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  await page.getByLabel(/^End\b/).fill(local);
  const inAll = await until("the hour's worst case", async () => {
    const [, dollars] = (await foreseen(page, "In all").textContent()).match(/\$([\d.]+)/) ?? [];
    return Number(dollars) < 150 ? Number(dollars) : undefined;
  });
  assert.ok(inAll > 50 && inAll <= 56, `${inAll} is no hour of 16 GPUs at 3.50`);
  assert.equal((await declaredNow()).min_gpus, null, "a preview writes nothing");
  await declare(page).click();
  // An end takes all nodes, so it is asked for.
  await page.getByRole("dialog").getByRole("button", { name: "Declare anyway" }).click();
  await page.locator(".figure", { hasText: "Budget" }).filter({ hasText: "since" }).getByText("$150.00").waitFor();
  const set = await declaredNow();
  assert.deepEqual(
    [set.min_gpus, Date.parse(set.until), set.max_spend_usd],
    [16, end.getTime(), 150],
  );
  // Sent again without a word of them, they stay; "none" clears those that it stands at.
  await page.getByLabel("Ceiling, a GPU-hour").fill("3.60");
  await declare(page).click();
  await until("the ceiling", async () => (await declaredNow()).max_price_per_gpu_hour === 3.6);
  const kept = await declaredNow();
  assert.deepEqual([kept.min_gpus, kept.until, kept.max_spend_since], [16, set.until, set.max_spend_since]);
  await page.getByLabel("No budget").check();
  await page.getByLabel("No minimum").check();
  await page.getByLabel("Ceiling, a GPU-hour").fill("3.50");
  await declare(page).click();
  await until("the budget to be gone", async () => (await declaredNow()).max_spend_usd === null);
  const left = await declaredNow();
  assert.deepEqual([left.min_gpus, left.until], [null, set.until]);
  quiet();
  console.log("a declaration was put under a minimum, an end and a budget, and out of all but the end again");
}

/** An alert comes to an open page by itself, ages go on, and a form that says nothing has no preview. */
async function alerts({ page, settled, quiet }) {
  await page.goto(CLUSTER);
  await settled();
  const preview = page.getByRole("region", { name: "What it would do" });
  await preview.getByText("Change a field").waitFor();
  await gpus(page).fill("24");
  await preview.getByText("$84.00").waitFor();
  await gpus(page).fill("");
  await preview.getByText("Enter GPUs and a ceiling").waitFor();
  assert.equal(await preview.locator(".figure").count(), 0, "an empty form has a preview");
  const raised = page.locator("bourse-alerts .badge", { hasText: "the price is high" });
  assert.equal(await raised.count(), 0, "an alert before any");
  await site.program(site.acmeToken, "PUT", "/api/vm/alerts", { cluster: "acme-train", price_above_per_gpu_hour: 0.01 });
  await raised.waitFor();
  const newest = page.locator('bourse-table[caption="Activity"] tbody tr').first();
  const age = newest.locator("bourse-ago");
  await age.filter({ hasText: /^\s*\d+ s ago/ }).waitFor();
  const before = await age.textContent();
  await until("an age that goes on", async () => (await age.textContent()) !== before);
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Clusters" }).waitFor();
  await site.program(site.acmeToken, "PUT", "/api/vm/alerts", { cluster: "acme-train" });
  quiet();
  console.log("an alert came to an open page, ages go on, and an empty form has no preview");
}

/** Changes a pool's notice, and leaves it to the service again. */
async function notice({ page, settled, quiet, close }) {
  const pool = async () => site.operator("GET", "/api/operator/pools/south-a100");
  await page.goto(`${site.service}/operator/pools/south-a100`);
  await settled();
  const field = page.getByRole("spinbutton", { name: /^Notice/ });
  const save = page.getByRole("button", { name: "Save terms" });
  const change = page.getByRole("dialog").getByRole("button", { name: "Change the terms" });
  await field.fill("90000");
  await save.click();
  await change.click();
  await page.locator(".figure", { hasText: "Notice" }).getByText("1 min 30 s").waitFor();
  assert.equal((await pool()).notice_ms, 90_000);
  await field.fill("");
  await save.click();
  await change.click();
  await page.locator(".figure", { hasText: "Notice" }).getByText("site default").waitFor();
  assert.equal((await pool()).notice_ms, null);
  quiet();
  await close();
  console.log("an operator changed a pool's notice, and left it to the service again");
}

/** All of `bob`'s sessions end while he fills a form; he signs in again in another tab, and goes on in this one. */
async function ended(bob) {
  const { page, context } = bob;
  await page.goto(`${site.service}/console/ssh-keys`);
  await page.getByLabel("Name").fill("bob's laptop");
  await page.getByRole("textbox", { name: "Public key" }).fill(KEY);
  const ask = await asSignedIn(context, site.service, "console");
  const { sessions } = await ask("GET", "/api/console/sessions");
  // The page's stream may notice first.
  bob.tolerated(401);
  for (const { session_id: id } of sessions.sort((a, b) => a.current - b.current)) {
    await ask("DELETE", `/api/console/sessions/${id}`);
  }
  await page.getByRole("button", { name: "Add the key" }).click();
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Sign in in a new tab" }).click();
  const tab = await opened;
  const known = mails(site.outbox);
  await tab.getByLabel("E-mail address").fill("bob@acme.example");
  await tab.getByRole("button", { name: "Mail me a link" }).click();
  await tab.goto(await linkFor(site.outbox, "bob@acme.example", known));
  await tab.getByRole("button", { name: "Sign in" }).click();
  await tab.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  // This one goes on by itself: what was pressed is done.
  await page.locator('bourse-table[caption="SSH keys"] tbody tr').filter({ hasText: "bob's laptop" }).waitFor();
  await tab.close();
  await bob.close();
  console.log("a session ended under a half-filled form, which was sent once its member was back");
}
