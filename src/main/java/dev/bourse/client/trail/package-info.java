/**
 * What whoever keeps an audit trail that was streamed to them does with it on their own machine,
 * without the service: {@code bourse trail verify}. The proof itself is the service's, {@link
 * dev.bourse.audit.TrailProof}.
 */
@NullMarked
package dev.bourse.client.trail;

import org.jspecify.annotations.NullMarked;
