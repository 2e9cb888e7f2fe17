// Presses everything: follows every link of every page, and presses every button that destroys nothing. No request
// fails, nothing is logged, and axe-core finds nothing in what opens.
//
//   node crawl.mjs SITE
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { isAccessible } from "./lib/look.mjs";
import { pagesFor } from "./lib/pages.mjs";
import { readSite } from "./lib/site.mjs";
import { during, visit } from "./lib/visit.mjs";

const site = readSite(process.argv[2]);
// What ends the crawl's own session, or sends what was not typed. Whatever else destroys asks first, in a dialog
// which is closed again.
const LEFT_ALONE = /^(sign out|try again|book a payment|a row's run)/i;
const COVERED_MS = 5_000;
const PRESSED = "button, summary, [role=tab], [role=button]";
let marks = 0;

const browser = await launch();
await during(browser, async () => {
  for (const who of ["member", "operator"]) {
    await crawl(who, site.states[who], await pagesFor(who, site.subjects));
  }
});

async function crawl(who, state, pages) {
  const visitor = await visit(browser, site.service, { state });
  const { page, settled, quiet } = visitor;
  const links = new Set();
  let presses = 0;
  for (const { address, name } of pages) {
    const done = new Set();
    await page.goto(site.service + address);
    await settled();
    for (;;) {
      for (const link of await linksOf(page)) {
        links.add(link);
      }
      const control = await nextOf(page, done);
      if (!control) {
        break;
      }
      try {
        await control.click({ timeout: COVERED_MS });
      } catch {
        // What was opened before lies over it.
        await page.goto(site.service + address);
        await settled();
        done.delete([...done].at(-1));
        const again = await nextOf(page, done);
        if (!again) {
          // The reload closed the part of the page that held it.
          break;
        }
        await again.click();
      }
      await settled();
      presses++;
      if (await page.locator("dialog[open]").count()) {
        await isAccessible(page, `${name}: what "${[...done].at(-1)}" opens`);
        await page.keyboard.press("Escape");
      }
      quiet();
      if (page.url() !== site.service + address) {
        await page.goto(site.service + address);
        await settled();
      }
    }
  }
  for (const link of links) {
    const response = await page.request.get(link);
    assert(response.ok(), `${link} answers ${response.status()}`);
  }
  await visitor.close();
  console.log(`${who}: ${pages.length} pages, ${presses} buttons, ${links.size} links`);
}

/** The addresses that the page leads to, of this service: those of others are nobody's to try from here. */
async function linksOf(page) {
  const all = await page.locator("a[href]:visible").evaluateAll((found) => found.map((one) => one.href));
  return all.map((one) => one.replace(/#.*/, "")).filter((one) => one.startsWith(`${site.service}/`));
}

/**
 * The first button that is not of a kind among those `done`, which it joins; each row's are of one kind. All are looked
 * at in one moment, and the button is found by a mark: a button that comes or goes meanwhile changes all numbers.
 */
async function nextOf(page, done) {
  const mark = String(++marks);
  const next = await page.locator(PRESSED).filter({ visible: true }).evaluateAll(
    (found, { without, leftAlone, mark }) => {
      for (const one of found) {
        const name = (one.ariaLabel || one.textContent).trim().replaceAll(/\s+/g, " ");
        const kind = one.closest("tbody, li, [role=row]") ? `a row's ${name.split(" ")[0]}` : name;
        const skipped = one.disabled || (one.type === "submit" && one.form && !one.closest("[role=search]"));
        if (!skipped && !new RegExp(leftAlone, "i").test(kind) && !without.includes(kind)) {
          one.setAttribute("data-next", mark);
          return kind;
        }
      }
      return undefined;
    },
    { without: [...done], leftAlone: LEFT_ALONE.source, mark },
  );
  if (next === undefined) {
    return undefined;
  }
  done.add(next);
  return page.locator(`[data-next="${mark}"]`);
}
