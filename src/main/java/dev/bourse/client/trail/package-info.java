/**
 * Verifies streamed audit trails on the recipient's own machine, without the service: {@code bourse
 * trail verify}. The proof is shared with the service, {@link dev.bourse.audit.TrailProof}.
 */
@NullMarked
package dev.bourse.client.trail;

import org.jspecify.annotations.NullMarked;
