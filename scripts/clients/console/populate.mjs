// Brings life into the world of scripts/lib/console-site, so that no page is empty: bids and rivals, keys and
// tokens, people and money, files in review and on the feed.
//
//   node populate.mjs SITE
//
// Adds to the file SITE the sessions of a member and of an operator, and what pages of one subject are about.
import { writeFileSync } from "node:fs";
import { launch } from "../lib/browser.mjs";
import { signIn, until } from "../lib/member.mjs";
import { asSignedIn } from "./lib/member.mjs";
import { readSite } from "./lib/site.mjs";
import { visit } from "./lib/visit.mjs";

const [file] = process.argv.slice(2);
const site = readSite(file);
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3";

const browser = await launch();
try {
  const member = await visit(browser, site.service);
  await member.page.goto(`${site.service}/sign-in?return_to=/console/`);
  await signIn(member.page, "alice@acme.example", site.outbox);
  await member.page.waitForURL(/\/console\//);
  const alice = await asSignedIn(member.context, site.service, "console");

  const operator = await visit(browser, site.service);
  await operator.context.request.post(`${site.service}/api/operator/session`, {
    data: { token: site.operatorToken },
    headers: { Origin: site.service },
  });

  await market();
  await organization();
  const subjects = { ":cluster": "acme-train", "kubernetes/:cluster": "acme-k8s", ...(await files(alice)) };
  subjects[":pool"] = "south-a100";
  subjects[":org"] = "acme";
  subjects[":endpoint"] = await endpoint(alice);
  await trailStream(alice);
  const states = { member: await member.state(), operator: await operator.state() };
  writeFileSync(file, JSON.stringify({ ...site, states, subjects }, null, 2));
  console.log(`a world with ${Object.keys(subjects).length} subjects`);
} finally {
  await browser.close();
}

/** More is wanted of the pool than it has: one cluster holds nodes, one is outbid, a rival holds the rest. */
async function market() {
  for (const [token, org] of [
    [site.acmeToken, "acme"],
    [site.globexToken, "globex"],
  ]) {
    await site.program(token, "POST", `/api/vm/orgs/${org}/ssh-keys`, { name: "laptop", public_key: KEY });
  }
  const declare = (token, cluster, gpus, price) =>
    site.program(token, "PUT", "/api/vm/capacity", {
      cluster,
      max_gpus: gpus,
      max_price_per_gpu_hour: price,
      expected_version: 0,
    });
  await declare(site.acmeToken, "acme-train", 16, 3.5);
  await site.program(site.acmeToken, "PUT", "/api/k8s/bid", {
    cluster: "acme-k8s",
    max_gpus: 8,
    limit_price_per_gpu_hour: 3,
    expected_version: 0,
  });
  await declare(site.globexToken, "globex-main", 104, 2.4);
  const held = async (token, cluster) =>
    (await site.program(token, "GET", `/api/vm/capacity?cluster=${cluster}`)).allocations.filter(
      ({ state }) => state === "active",
    ).length;
  await until("the nodes", async () => (await held(site.acmeToken, "acme-train")) === 2);
  await until("the rival's nodes", async () => (await held(site.globexToken, "globex-main")) === 13);
  await declare(site.acmeToken, "acme-batch", 8, 1);
}

async function organization() {
  const org = "/api/operator/orgs/acme";
  await site.operator("POST", `${org}/invitations`, { email: "erin@acme.example" });
  await site.operator("POST", `${org}/rules`, { kind: "domain", value: "acme.example" });
  await site.operator("POST", `${org}/tokens`, { name: "dashboard", scopes: ["capacity:read"] });
  await site.operator("PUT", `${org}/billing/spend-limit`, { limit_usd: 5000 });
}

/** An endpoint that nobody answers at, with a delivery that failed. */
async function endpoint(alice) {
  const { endpoint_id: id } = await alice("POST", "/api/console/webhooks", {
    url: "http://localhost:9/bourse",
    description: "pages the on-call engineer",
    kinds: ["notice", "reclaim"],
  });
  await alice("POST", `/api/console/webhooks/${id}/test`);
  return id;
}

/** A stream of the trail to where nobody takes it. */
async function trailStream(alice) {
  await alice("PUT", "/api/console/trail-stream", { destination: "http://localhost:9/trail" });
}

/** One file for the organization, one that waits for its review, one on the feed. */
async function files(alice) {
  const publish = async (title, visibility) => {
    const bytes = Buffer.from(`# ${title}\n`);
    const announced = await alice("POST", "/api/checkpoints", {
      title,
      filename: `${title.toLowerCase().replaceAll(" ", "-")}.md`,
      content_type: "text/markdown",
      bytes: bytes.length,
      visibility,
      upload: "direct",
    });
    await alice("PUT", `/api/checkpoints/${announced.id}/content`, bytes, "text/markdown");
    return announced.id;
  };
  const id = await publish("Run 7", "org");
  await publish("Model card", "public");
  const { reviews } = await site.operator("GET", "/api/operator/reviews");
  await site.operator("POST", `/api/operator/reviews/${reviews[0].review_id}/approve`);
  await publish("Weights", "public");
  const { reviews: waiting } = await site.operator("GET", "/api/operator/reviews");
  return { ":id": id, ":review": waiting[0].review_id };
}
