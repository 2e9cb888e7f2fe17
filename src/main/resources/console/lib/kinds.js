/**
 * The two kinds of clusters. Each has a surface of its own at the interface; pages show both in the form of the surface of
 * VMs. What differs is here: the names of operations, the field of the ceiling, and whether a node has an address or a name.
 */
import { call } from './client.js';

/** @typedef {{signal?: AbortSignal, quiet?: boolean}} How as of `call` */

const VM = {
  isVm: true,
  /** @type {'max_price_per_gpu_hour' | 'limit_price_per_gpu_hour'} */
  price: 'max_price_per_gpu_hour',
  /** @type {'followEvents' | 'followK8sEvents'} */
  events: 'followEvents',
  /** @param {string} cluster */
  address: (cluster) => `/console/clusters/${encodeURIComponent(cluster)}`,
  /** Returns an event's state in the form of the VM surface. @param {any} told */
  state: (told) => told,
  /** @param {string} cluster @param {How} [how] @returns {Promise<any>} */
  read: (cluster, how) => call('readCapacity', { query: { cluster }, ...how }),
  /** @param {any} body @param {How} [how] @returns {Promise<any>} */
  preview: (body, how) => call('previewCapacity', { body, ...how }),
  /** @param {any} body @param {any} [_before] the state as last told @returns {Promise<any>} the state after it */
  write: (body, _before) => call('declareCapacity', { body }),
  /** @param {string} cluster @param {How} [how] @returns {Promise<any>} */
  outlook: (cluster, how) => call('readOutlook', { query: { cluster }, ...how }),
  /** @param {string} cluster @param {string} node @returns {Promise<any>} */
  swap: (cluster, node) => call('swapNode', { body: { cluster, node } }),
  /** @param {string} cluster @param {How} [how] @returns {Promise<any>} */
  alerts: (cluster, how) => call('readAlerts', { query: { cluster }, ...how }),
  /** @param {any} body @returns {Promise<any>} */
  setAlerts: (body) => call('writeAlerts', { body }),
  /** @param {string} cluster @param {any} hours @param {How} [how] @returns {Promise<any>} */
  history: (cluster, hours, how) => call('readHistory', { query: { cluster, hours }, ...how }),
  /** @param {string} cluster @param {number} page @param {How} [how] @returns {Promise<any>} */
  activity: (cluster, page, how) => call('listActivity', { query: { cluster, page }, ...how }),
  /** How much of the held GPUs is in use. @param {string} _cluster @param {How} [_how] @returns {Promise<any>} null if the page links to each GPU's figures */
  use: async (_cluster, _how) => null,
};

/** @typedef {typeof VM} Kind */

/** @type {Kind} */
const K8S = {
  isVm: false,
  price: 'limit_price_per_gpu_hour',
  events: 'followK8sEvents',
  address: (cluster) => `/console/kubernetes/${encodeURIComponent(cluster)}`,
  state: (told) => ({
    ...told,
    writes_armed: true,
    max_price_cap_per_gpu_hour: told.pool.max_price_cap_per_gpu_hour,
    declared: told.bid && { ...told.bid, max_price_per_gpu_hour: told.bid.limit_price_per_gpu_hour },
    pending: told.nodes_pending,
    allocations: told.nodes,
  }),
  read: async (cluster, how) => K8S.state(await call('readK8sCluster', { path: { name: cluster }, ...how })),
  preview: async (body, how) => {
    const preview = await call('previewBid', { body, ...how });
    return { ...preview, state: preview.state && K8S.state(preview.state) };
  },
  // The answer has the bid only, so the state is read again. The bid is in force even if that read fails.
  write: async (body, before) => {
    const written = await call('writeBid', { body });
    const now = await K8S.read(body.cluster, { quiet: true }).catch(() => null);
    return now && now.version >= written.version ? now : K8S.state({ ...before, ...written });
  },
  outlook: (cluster, how) => call('readBidOutlook', { query: { cluster }, ...how }),
  swap: (cluster, node) => call('swapK8sNode', { body: { cluster, node } }),
  alerts: (cluster, how) => call('readK8sAlerts', { query: { cluster }, ...how }),
  setAlerts: (body) => call('writeK8sAlerts', { body }),
  history: (cluster, hours, how) => call('readK8sHistory', { query: { cluster, hours }, ...how }),
  activity: (cluster, page, how) => call('listK8sActivity', { query: { cluster, page }, ...how }),
  use: (cluster, how) => call('readK8sMetrics', { query: { cluster }, ...how }),
};

/** The kinds by the `kind` of a cluster. @type {Record<string, Kind>} */
export const KINDS = { vm: VM, k8s: K8S };
