/**
 * The Kubernetes surface. A Kubernetes cluster is a tenant of a pool as a VM cluster is: the same
 * declaration, auction, grants and write cadence, through the same {@link
 * dev.bourse.capacity.Capacity#declare}. What differs is what is shown: a node goes by its name, as
 * it does in the cluster that it joins, where VM clusters know a public address; and what is asked
 * for: a bid is a limit price, and the size may stay as it is.
 *
 * <p>A node is prepared without any tenant's ssh key, for nobody logs in to it: it joins its
 * cluster by what the provider's preparing does. So a bid demands no key in the registry either.
 *
 * <p>{@link dev.bourse.k8s.K8sService} is what callers may do, {@link dev.bourse.k8s.K8sText} how
 * it is told in JSON, over HTTP and elsewhere.
 *
 * <p>Rejected: a market of its own for Kubernetes (two markets over the same machines need a split
 * of them that is wrong the next hour), and a mapping of VM clusters onto this surface (node names
 * would be seen where addresses are promised).
 */
@NullMarked
package dev.bourse.k8s;

import org.jspecify.annotations.NullMarked;
