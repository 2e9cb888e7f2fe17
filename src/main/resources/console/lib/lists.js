/** Lists that the service answers in pages. */

/** The most pages read before a question; more would keep the operator waiting, and the list itself shows the rest. */
const MOST_PAGES = 10;

/**
 * Reads a list page by page.
 * @template {{more: boolean, next: string | null}} Page
 * @template Row
 * @param {(after: string | undefined) => Promise<Page>} read
 * @param {(page: Page) => Row[]} rowsOf
 * @returns {Promise<{rows: Row[], more: boolean}>} `more` is true if the list is longer than was read
 */
export async function readPages(read, rowsOf) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {string | undefined} */
  let after;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await read(after);
    rows.push(...rowsOf(page));
    if (!page.more || page.next === null) {
      return { rows, more: false };
    }
    after = page.next;
  }
  return { rows, more: true };
}
