import { html, nothing, svg } from 'lit';
import { BOTTOM, HEIGHT, LEFT, Plot, RIGHT, TOP, scale } from './chart.js';
import { count, dollars, whole } from '../lib/format.js';

/**
 * `<bourse-depth>`: how many nodes of a pool are wanted at a price or above, as steps from the highest price to the
 * lowest, with the supply as a vertical line and the clearing price as a horizontal one. The nodes left of the supply
 * are those that bids take.
 */
class Depth extends Plot {
  static properties = { ...Plot.properties, depth: { attribute: false }, clearing: { attribute: false } };

  constructor() {
    super();
    /** The answer of `readMarketDepth`; it has levels. @type {any} */
    this.depth = null;
    /** The clearing price of a GPU-hour; null if there is none. @type {number | null} */
    this.clearing = null;
  }

  /** @override */
  render() {
    const { usable_nodes: supply, levels } = this.depth;
    const wanted = levels.at(-1).nodes;
    const words = `${this.label}: ${count(wanted, 'node')} wanted, ${whole(supply)} in the pool; the highest step is ${dollars(levels[0].price_per_gpu_hour)}`;
    return html`<figure class="chart">
      <figcaption>
        <span class="key first"><i aria-hidden="true"></i>nodes wanted <b class="figures">${whole(wanted)}</b></span>
        <span class="key supply"><i aria-hidden="true"></i>in the pool <b class="figures">${whole(supply)}</b></span>
        ${this.clearing === null ? nothing : html`<span class="key second"><i aria-hidden="true"></i>clearing price <b class="figures">${dollars(this.clearing)}</b></span>`}
      </figcaption>
      <svg class="plot" height=${HEIGHT} viewBox="0 0 ${this.width} ${HEIGHT}" role="img" aria-label=${words}>
        ${this.width === 0 ? nothing : this.drawn()}
      </svg>
    </figure>`;
  }

  drawn() {
    const { usable_nodes: supply, levels } = this.depth;
    const nodes = scale(Math.max(supply, levels.at(-1).nodes), true);
    const prices = scale(Math.max(levels[0].price_per_gpu_hour, this.clearing ?? 0), false);
    const x = (/** @type {number} */ number) => LEFT + ((this.width - LEFT - RIGHT) * number) / nodes.top;
    const y = (/** @type {number} */ price) => this.y(price, prices.top);
    const floor = HEIGHT - BOTTOM;
    return [
      prices.ticks.map((tick) => this.rule(tick, prices.top, dollars(tick))),
      nodes.ticks.map((tick) => svg`<text class="tick" x=${x(tick)} y=${HEIGHT - 5}
        text-anchor=${tick === 0 ? 'start' : tick === nodes.top ? 'end' : 'middle'}>${whole(tick)}</text>`),
      svg`<path class="taken" d=${`M${x(0)} ${floor}${steps(levels, supply, x, y)}V${floor}Z`}></path>`,
      svg`<path class="line first" d=${`M${x(0)} ${y(levels[0].price_per_gpu_hour)}${steps(levels, Infinity, x, y)}V${floor}`}></path>`,
      svg`<line class="supply" x1=${x(supply)} x2=${x(supply)} y1=${TOP} y2=${floor}></line>`,
      this.clearing === null ? nothing : svg`<path class="line second" d=${`M${LEFT} ${y(this.clearing)}H${this.width - RIGHT}`}></path>`,
    ];
  }
}

/**
 * The steps of the demand, up to a number of nodes.
 * @param {{price_per_gpu_hour: number, nodes: number}[]} levels
 * @param {number} most
 * @param {(nodes: number) => number} x
 * @param {(price: number) => number} y
 */
function steps(levels, most, x, y) {
  let path = '';
  let before = 0;
  for (const level of levels) {
    if (before >= most) {
      break;
    }
    before = Math.min(level.nodes, most);
    path += `V${y(level.price_per_gpu_hour)}H${x(before)}`;
  }
  return path;
}

customElements.define('bourse-depth', Depth);
