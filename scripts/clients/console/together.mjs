// Two people at one cluster, and one whose session ends under a half-filled form: nobody loses what they typed.
//
//   node together.mjs SITE
import { randomBytes } from "node:crypto";
import { launch } from "../lib/browser.mjs";
import { linkFor, mails, signIn } from "../lib/member.mjs";
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
  await ended(bob);
});

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
  await wanted(bob.page, 16);
  bob.quiet();
  await alice.close();
  console.log("two people changed one cluster; each saw what the other did, and nothing was lost");
}

/** All of `bob`'s sessions end while he fills a form; he signs in again in another tab, and goes on in this one. */
async function ended(bob) {
  const { page, context } = bob;
  await page.goto(`${site.service}/console/ssh-keys`);
  await page.getByLabel("Name").fill("bob's laptop");
  await page.getByRole("textbox", { name: "Public key" }).fill(KEY);
  const ask = await asSignedIn(context, site.service, "console");
  const { sessions } = await ask("GET", "/api/console/sessions");
  for (const { session_id: id } of sessions.sort((a, b) => a.current - b.current)) {
    await ask("DELETE", `/api/console/sessions/${id}`);
  }
  bob.tolerated(401);
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
