/**
 * All pages and their addresses. One without `group` has no place in the navigation and is reached from another page.
 * The first pattern that matches an address wins.
 */

/**
 * @typedef {object} Entry
 * @property {string} path a pattern: `:name` stands for one part of the address
 * @property {string} title
 * @property {string} [group] the part of the navigation it stands in
 * @property {string} [under] the path of the page that the navigation marks while this one is shown
 * @property {boolean} [isOfSite] whether an operator of one site has a use for it; the server refuses such an operator the others
 * @property {() => Promise<{default: new () => import('./lib/page.js').Page<any>}>} load
 */

/** @type {Entry[]} */
export const memberPages = [
  { path: '/console/', title: 'Overview', group: 'Capacity', load: () => import('./pages/overview.js') },
  { path: '/console/welcome', title: 'Welcome', under: '/console/', load: () => import('./pages/welcome.js') },
  { path: '/console/clusters', title: 'Clusters', group: 'Capacity', load: () => import('./pages/clusters.js') },
  { path: '/console/clusters/:cluster', title: 'Cluster', under: '/console/clusters', load: () => import('./pages/cluster.js') },
  { path: '/console/clusters/:cluster/gpus', title: 'GPUs', under: '/console/clusters', load: () => import('./pages/gpus.js') },
  { path: '/console/kubernetes', title: 'Kubernetes', group: 'Capacity', load: () => import('./pages/kubernetes.js') },
  { path: '/console/kubernetes/:cluster', title: 'Kubernetes cluster', under: '/console/kubernetes', load: () => import('./pages/cluster.js') },
  { path: '/console/market', title: 'Market', group: 'Capacity', load: () => import('./pages/market.js') },
  { path: '/console/ssh-keys', title: 'SSH keys', group: 'Capacity', load: () => import('./pages/ssh-keys.js') },
  { path: '/console/checkpoints', title: 'Checkpoints', group: 'Checkpoints', load: () => import('./pages/checkpoints.js') },
  { path: '/console/checkpoints/:id', title: 'Checkpoint', under: '/console/checkpoints', load: () => import('./pages/checkpoint.js') },
  { path: '/console/billing', title: 'Billing', group: 'Organization', load: () => import('./pages/billing.js') },
  { path: '/console/people', title: 'People', group: 'Organization', load: () => import('./pages/people.js') },
  { path: '/console/tokens', title: 'Tokens', group: 'Organization', load: () => import('./pages/tokens.js') },
  { path: '/console/webhooks', title: 'Webhooks', group: 'Organization', load: () => import('./pages/webhooks.js') },
  { path: '/console/webhooks/:endpoint', title: 'Webhook', under: '/console/webhooks', load: () => import('./pages/webhook.js') },
  { path: '/console/trail/stream', title: 'Trail stream', under: '/console/trail', load: () => import('./pages/trail-stream.js') },
  { path: '/console/trail', title: 'Trail', group: 'Organization', load: () => import('./pages/trail.js') },
  { path: '/console/applications', title: 'Applications', group: 'You', load: () => import('./pages/applications.js') },
  { path: '/console/roadmap', title: 'Roadmap', under: '/console/account', load: () => import('./pages/roadmap.js') },
  { path: '/console/account', title: 'Account', group: 'You', load: () => import('./pages/account.js') },
];

/** @type {Entry[]} */
export const operatorPages = [
  { path: '/operator/', title: 'Site status', group: 'Site', load: () => import('./operator/status.js') },
  { path: '/operator/pools', title: 'Pools', group: 'Capacity', isOfSite: true, load: () => import('./operator/pools.js') },
  { path: '/operator/pools/:pool', title: 'Pool', under: '/operator/pools', isOfSite: true, load: () => import('./operator/pool.js') },
  { path: '/operator/clusters', title: 'Clusters', group: 'Capacity', load: () => import('./operator/clusters.js') },
  { path: '/operator/clusters/:cluster', title: 'Cluster', under: '/operator/clusters', load: () => import('./operator/cluster.js') },
  { path: '/operator/organizations', title: 'Organizations', group: 'Organizations', load: () => import('./operator/organizations.js') },
  { path: '/operator/organizations/:org', title: 'Organization', under: '/operator/organizations', load: () => import('./operator/organization.js') },
  { path: '/operator/holds', title: 'Holds', group: 'Organizations', load: () => import('./operator/holds.js') },
  { path: '/operator/reviews', title: 'Review queue', group: 'Checkpoints', load: () => import('./operator/reviews.js') },
  { path: '/operator/reviews/:review', title: 'Review', under: '/operator/reviews', load: () => import('./operator/review.js') },
  { path: '/operator/switches', title: 'Switches', group: 'Platform', load: () => import('./operator/switches.js') },
  { path: '/operator/jobs', title: 'Jobs', group: 'Platform', load: () => import('./operator/jobs.js') },
  { path: '/operator/trail', title: 'Trail', group: 'Platform', load: () => import('./operator/trail.js') },
  { path: '/operator/operators', title: 'Operators', group: 'Platform', load: () => import('./operator/operators.js') },
];
