// An open page outlives the service: whoever runs this kills the service where it prints `kill`, starts it where it
// prints `start`, and writes a line when it is there again. The page goes on by itself: it follows events again, and
// what is pressed works.
//
//   node restart.mjs SITE
import { createInterface } from "node:readline/promises";
import { launch } from "../lib/browser.mjs";
import { readSite } from "./lib/site.mjs";
import { during, visit } from "./lib/visit.mjs";

const site = readSite(process.argv[2]);
const input = createInterface({ input: process.stdin });
const said = () => new Promise((done) => input.once("line", done));

/** What the cluster declares, as another program of the organization changes it. */
async function declare(gpus) {
  const path = "/api/vm/capacity?cluster=acme-train";
  const { version } = await site.program(site.acmeToken, "GET", path);
  await site.program(site.acmeToken, "PUT", "/api/vm/capacity", {
    cluster: "acme-train",
    max_gpus: gpus,
    max_price_per_gpu_hour: 3.5,
    expected_version: version,
  });
}

const browser = await launch();
await during(browser, async () => {
  const { page, settled, unreachable, quiet, close } = await visit(browser, site.service, {
    state: site.states.member,
  });
  await page.goto(`${site.service}/console/clusters/acme-train`);
  await settled();
  const wanted = page.locator(".figure", { hasText: "Wanted" });
  await wanted.getByText("16 GPUs").waitFor();
  await declare(8);
  await wanted.getByText("8 GPUs", { exact: true }).waitFor();

  unreachable();
  console.log("kill");
  await page.locator("#liveness").getByText("reconnecting").waitFor();
  const started = said();
  console.log("start");
  await started;
  await page.locator("#liveness").getByText("live", { exact: true }).waitFor();
  await declare(16);
  await wanted.getByText("16 GPUs").waitFor();
  quiet();
  await page.getByRole("link", { name: "Market" }).click();
  await page.getByRole("heading", { name: "Market", level: 1 }).waitFor();
  await settled();
  console.log("the service was killed under an open page, which followed events again when it was back");
  await close();
  input.close();
});
