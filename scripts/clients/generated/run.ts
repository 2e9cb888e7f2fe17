// Runs the program against each contract on a served demo and says what came of it:
//
//   node run.js URL ORGANIZATION_TOKEN MEMBER_TOKEN OPERATOR_TOKEN
import { total } from "./programs/billing.js";
import { publish } from "./programs/checkpoints.js";
import { page } from "./programs/console.js";
import { bid } from "./programs/k8s.js";
import { cheapest } from "./programs/market.js";
import { ping } from "./programs/mcp.js";
import { report } from "./programs/node.js";
import { begin } from "./programs/oauth.js";
import { organizations } from "./programs/operator.js";
import { trail } from "./programs/org.js";
import { raise } from "./programs/vm.js";

declare const process: { argv: string[]; exitCode: number };

const [url = "", organization = "", member = "", operator = ""] = process.argv.slice(2);

async function expect(contract: string, answer: Promise<unknown>, holds: (text: string) => boolean): Promise<void> {
  const text = JSON.stringify(await answer);
  if (holds(text)) {
    console.log(`${contract}: ${text.length > 100 ? `${text.slice(0, 100)}…` : text}`);
  } else {
    console.error(`${contract} answered ${text}`);
    process.exitCode = 1;
  }
}

await expect("billing", total(url, organization), (micros) => Number(micros) >= 0);
await expect("checkpoints", publish(url, member, "# Notes"), (status) => status === '"ready"');
await expect("console", page(url), (html) => html.includes("</form>"));
await expect("k8s", bid(url, organization), (terms) => terms.includes('"limit_price_per_gpu_hour":10'));
await expect("market", cheapest(url, organization), (pool) => pool.includes('"pool":"demo-h100"'));
// The endpoint wants a token made for it, which nobody has here.
await expect("mcp", ping(url, member), (ok) => ok === "false");
// Only a held machine has a node's credential.
await expect(
  "node",
  report(url, organization, [{ index: 0, utilization_percent: 50 }]).catch((refused) => String(refused)),
  (text) => text.includes("takes nodeToken"),
);
await expect("oauth", begin(url, "bourse-cli"), (codes) => codes.includes('"user_code"'));
await expect("operator", organizations(url, operator), (orgs) => orgs.includes('"org_id":"acme"'));
await expect("org", trail(url, organization), (entries) => entries.includes('"action":"k8s_bid_put"'));
await expect("vm", raise(url, organization), (refusal) => refusal.includes("ssh key"));
