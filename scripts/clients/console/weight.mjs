// The first visit of each page by a new browser takes at most 24 requests and 60 KiB, the page's data included.
//
//   node weight.mjs SITE
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { pagesFor } from "./lib/pages.mjs";
import { readSite } from "./lib/site.mjs";
import { during, visit } from "./lib/visit.mjs";

const MOST_REQUESTS = 24;
const MOST_BYTES = 60 * 1024;

const site = readSite(process.argv[2]);
const browser = await launch();
await during(browser, async () => {
  for (const who of ["member", "operator"]) {
    let heaviest = { bytes: 0 };
    for (const { address } of await pagesFor(who, site.subjects)) {
      const one = await weigh(who, address);
      assert.ok(one.requests <= MOST_REQUESTS, `${address} takes ${one.requests} requests`);
      assert.ok(one.bytes <= MOST_BYTES, `${address} takes ${one.bytes} bytes`);
      heaviest = one.bytes > heaviest.bytes ? one : heaviest;
    }
    console.log(`the heaviest page of ${who}s, ${heaviest.address}, takes ${heaviest.requests} requests and ${heaviest.bytes} bytes`);
  }
});

/** Counts until the page is shown; an open page sends further requests for news. */
async function weigh(who, address) {
  const { page, context, settled, close } = await visit(browser, site.service, { state: site.states[who] });
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  let requests = 0;
  let bytes = 0;
  devtools.on("Network.requestWillBeSent", ({ request }) => (requests += request.url.startsWith("data:") ? 0 : 1));
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.goto(site.service + address);
  await settled();
  await close();
  return { address, requests, bytes };
}
