/**
 * The secret scanner: finds credentials in a file while its bytes arrive, in constant memory and
 * whatever pieces the bytes arrive in. It knows nothing of checkpoints and could be a library.
 *
 * <p>{@link dev.bourse.secrets.SecretScan} is all that others see. {@link
 * dev.bourse.secrets.Keywords} skips to the few places where a {@link
 * dev.bourse.secrets.SecretRule} may hold, the rule reads a bounded piece of {@link
 * dev.bourse.secrets.SecretText} there, and {@link dev.bourse.secrets.Randomness} tells secrets
 * from documentation. Most rules are lines of the table in {@link
 * dev.bourse.secrets.SecretVendors}.
 *
 * <p>What a file holds in another form, a {@link dev.bourse.secrets.SecretLayer} or {@link
 * dev.bourse.secrets.EncodedRuns} shows to a scan of its own while it arrives; {@link
 * dev.bourse.secrets.Unpacking} bounds all of it together.
 *
 * <p>Regular expressions were rejected for the rules. A linear-time engine needs some 140 ns for
 * each byte of its window, so a file made of nothing but keywords would take a core one second for
 * each 7 MB; and walking the shape by hand first, which makes an expression cheap, leaves it
 * nothing to decide.
 */
@NullMarked
package dev.bourse.secrets;

import org.jspecify.annotations.NullMarked;
