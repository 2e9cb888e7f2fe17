import { html, nothing } from 'lit';

/** @typedef {{open?: string, close?: string, text?: string, level?: number, href?: string}} Part */
/** @typedef {{part: Part, content: any[]}} Opened */

/**
 * A README that a member published, of the parts that `readCheckpointReadme` answers. Every element is one of these
 * templates, so nothing of its author is markup.
 * @param {{parts: Part[], truncated: boolean, path: string}} readme
 */
export function readmeSection(readme) {
  return html`<section class="sheet readme" aria-labelledby="readme-path" id="readme">
    <h2 id="readme-path">${readme.path}</h2>
    ${content(readme.parts)}
    ${readme.truncated ? html`<p class="muted small">The end of ${readme.path} is left out. Download the file to read all of it.</p>` : nothing}
  </section>`;
}

/** @param {Part[]} parts @returns {any[]} */
function content(parts) {
  // The first heading follows the section's, so it is one deeper, and no other one is more than one deeper than it.
  const top = Math.max(2, parts.find((part) => part.open === 'heading')?.level ?? 1);
  /** @type {Opened[]} */
  const open = [{ part: {}, content: [] }];
  for (const part of parts) {
    const last = open[open.length - 1];
    if (part.open) {
      open.push({ part, content: [] });
    } else if (part.close && open.length > 1) {
      open.pop();
      open[open.length - 1].content.push(element(last, top));
    } else if (part.text) {
      last.content.push(part.text);
    }
  }
  return open[0].content;
}

/** @param {Opened} opened @param {number} top the deepest level of a heading that stands for the first */
function element({ part, content }, top) {
  switch (part.open) {
    case 'heading':
      return (part.level ?? 1) <= top ? html`<h3>${content}</h3>` : html`<h4>${content}</h4>`;
    case 'paragraph':
      return html`<p>${content}</p>`;
    case 'quote':
      return html`<blockquote>${content}</blockquote>`;
    case 'list':
      return html`<ul>${content}</ul>`;
    case 'numbered':
      return html`<ol>${content}</ol>`;
    case 'item':
      return html`<li>${content}</li>`;
    case 'strong':
      return html`<strong>${content}</strong>`;
    case 'emphasis':
      return html`<em>${content}</em>`;
    case 'link':
      return isSafe(part.href) ? html`<a href=${part.href} target="_blank" rel="noopener noreferrer nofollow ugc">${content}</a>` : html`${content}`;
    case 'code':
      return html`<code>${content}</code>`;
    case 'pre':
      return html`<pre tabindex="0"><code>${content}</code></pre>`;
    case 'break':
      return html`<br>`;
    case 'rule':
      return html`<hr>`;
    case 'table':
      return html`<table><tbody>${content}</tbody></table>`;
    case 'row':
      return html`<tr>${content}</tr>`;
    case 'header':
      return html`<th scope="col">${content}</th>`;
    case 'cell':
      return html`<td>${content}</td>`;
    default:
      return html`${content}`;
  }
}

/** The service checks it too; a link is the one thing of a README that acts. @param {string | undefined} href */
function isSafe(href) {
  return /^(https?:\/\/|mailto:)/i.test(href ?? '');
}
