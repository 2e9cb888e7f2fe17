/**
 * The Kubernetes surface. A Kubernetes cluster is a tenant of a pool like a VM cluster: it has the
 * same declarations, auctions, grants and write cadence, through the same {@link
 * dev.bourse.capacity.Capacity#declare}. It differs in two ways: nodes are shown by their name in
 * the cluster they join, where VM clusters show a public address; and a bid is a limit price that
 * may leave the size unchanged.
 *
 * <p>A node is prepared without any tenant's ssh key, because nobody logs in to it: the provider's
 * preparation makes it join its cluster. So a bid requires no key in the registry either.
 *
 * <p>{@link dev.bourse.k8s.K8sService} implements the operations, and {@link
 * dev.bourse.k8s.K8sText} shows their results in JSON, over HTTP and elsewhere.
 *
 * <p>Rejected: a separate market for Kubernetes (two markets over the same machines need a split of
 * them that is wrong the next hour), and a mapping of VM clusters onto this surface (node names
 * would appear where addresses are promised).
 */
@NullMarked
package dev.bourse.k8s;

import org.jspecify.annotations.NullMarked;
