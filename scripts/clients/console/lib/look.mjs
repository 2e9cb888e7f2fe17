// What must hold for a page however it is looked at: for people who listen to it, who read it large, who hold it
// in one hand, and whom moving things make ill.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

function none(found, what) {
  assert(found.length === 0, `${what}: ${found.join("\n  ")}`);
}

/** axe-core finds nothing on `page`, of any impact, as it is shown now. */
export async function isAccessible(page, name) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const result = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    const where = (node) => `${node.target.join(" ")}: ${node.failureSummary.replaceAll(/\s+/g, " ")}`;
    return result.violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes.slice(0, 3).map(where).join("; ")}`);
  });
  none(violations, `${name}: axe-core`);
}

/** Nothing of `page` needs a scroll to the side, and no text is cut off where it cannot be scrolled to. */
export async function fits(page, name) {
  const found = await page.evaluate(() => {
    const root = document.documentElement;
    const scrolls = (one) => {
      for (let at = one; at && at !== root; at = at.parentElement) {
        if (/auto|scroll/.test(getComputedStyle(at).overflowX)) {
          return true;
        }
      }
      return false;
    };
    const isSeen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    // One pixel is how those hide what only screen readers are to find.
    const isThere = (box) => box.width > 1 && box.height > 1;
    const told = (one) => `${one.tagName.toLowerCase()}.${one.className}: ${one.textContent.trim().slice(0, 60)}`;
    const beyond = [];
    const cut = [];
    for (const one of document.body.querySelectorAll("*")) {
      const box = one.getBoundingClientRect();
      if (!isThere(box) || !isSeen(one)) {
        continue;
      }
      if ((box.right > root.clientWidth + 1 || (box.left < -1 && box.right > 1)) && !scrolls(one)) {
        beyond.push(told(one));
      }
      const style = getComputedStyle(one);
      const hides = (value) => value === "hidden" || value === "clip";
      const text = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      const wide = hides(style.overflowX) && one.scrollWidth > one.clientWidth + 1 && style.textOverflow !== "ellipsis";
      const high = hides(style.overflowY) && one.scrollHeight > one.clientHeight + 1;
      if (text && (wide || high)) {
        cut.push(told(one));
      }
    }
    const over = root.scrollWidth - root.clientWidth;
    return [
      ...(over > 0 ? [`scrolls ${over} px to the side`] : []),
      ...beyond.slice(0, 5).map((one) => `beyond the edge: ${one}`),
      ...cut.slice(0, 5).map((one) => `cut off: ${one}`),
    ];
  });
  none(found, `${name}, ${page.viewportSize().width} px wide`);
}

/** Nothing of `page` moves for longer than an eye can follow; to be asked with reduced motion wished for. */
export async function holdsStill(page, name) {
  const moving = await page.evaluate(() => {
    const seconds = (list) => Math.max(...list.split(",").map((one) => parseFloat(one)));
    return [...document.querySelectorAll("*")]
      .filter((one) => {
        const style = getComputedStyle(one);
        const animated = style.animationName !== "none" && seconds(style.animationDuration) > 0.01;
        return animated || seconds(style.transitionDuration) > 0.01 || style.scrollBehavior === "smooth";
      })
      .slice(0, 5)
      .map((one) => `${one.tagName.toLowerCase()}.${one.className}`);
  });
  none(moving, `${name} moves where less motion is wished for`);
}

/** What a finger must hit on a phone is large enough: 24 px, as WCAG 2.2 has it, links in text apart. */
export async function canBeTouched(page, name) {
  const small = await page.evaluate(() =>
    [...document.querySelectorAll("button, [role=button], [role=tab], select, input:not([type=hidden])")]
      .filter((one) => {
        const box = one.getBoundingClientRect();
        // Its label is pressed as well as the box.
        const labelled = /checkbox|radio|file/.test(one.type) && one.labels.length > 0;
        // A phone draws no heads of tables; they are there for readers of the screen.
        return !one.closest("thead") && one.checkVisibility() && box.width > 1 && (box.height < 24 || box.width < 24) && !labelled;
      })
      .slice(0, 5)
      .map((one) => one.outerHTML.slice(0, 120)),
  );
  none(small, `${name}: too small for a finger`);
}

/** `page` has one heading of the first level, a title, and a language. */
export async function isNamed(page, name) {
  assert.equal(await page.locator("h1:visible").count(), 1, `${name}: not one heading`);
  assert.equal(await page.locator("html").getAttribute("lang"), "en", `${name}: no language`);
  assert.match(await page.title(), /\S/, `${name}: no title`);
}
