// All pages of the console, from its own table, so that none can be forgotten.
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

const TABLE = new URL("../../../../src/main/resources/console/pages.js", import.meta.url);

/**
 * The addresses of the pages for members, or for operators, each with a name that files can bear.
 *
 * @param {"member" | "operator"} who
 * @param {Record<string, string>} subjects what stands for each part that an address leaves open: a cluster's name
 *   for `:cluster`, and for `kubernetes/:cluster` another one
 */
export async function pagesFor(who, subjects) {
  // By its text: it is a module of browsers, in a folder that Node takes for another kind.
  const { memberPages, operatorPages } = await import(
    `data:text/javascript;base64,${readFileSync(TABLE).toString("base64")}`
  );
  const entries = who === "member" ? memberPages : operatorPages;
  return entries.map(({ path, title, load }) => {
    assert(load, `${path} is in the table and is not built`);
    const address = path.replace(/([^/]*)\/:(\w+)/g, (_, before, part) => {
      const subject = subjects[`${before}/:${part}`] ?? subjects[`:${part}`];
      assert(subject, `who asks for ${path} must say what stands for :${part}`);
      return `${before}/${encodeURIComponent(subject)}`;
    });
    return { path, title, address, name: path.replaceAll(/^\/|\/$/g, "").replaceAll(/\W+/g, "-") };
  });
}
