/**
 * The secret scanner: finds credentials in a file while its bytes arrive, in constant memory and
 * independently of the pieces they arrive in. It knows nothing of checkpoints and could be a
 * library.
 *
 * <p>{@link dev.bourse.secrets.SecretScan} is the entry point. {@link dev.bourse.secrets.Keywords}
 * skips to the few places where a {@link dev.bourse.secrets.SecretRule} may hold, the rule reads a
 * bounded part of {@link dev.bourse.secrets.SecretText} there, and {@link
 * dev.bourse.secrets.Randomness} separates secrets from documentation. Most rules are lines of the
 * table in {@link dev.bourse.secrets.SecretVendors}.
 *
 * <p>Content in another form, such as archives and encoded text, is converted by a {@link
 * dev.bourse.secrets.SecretLayer} or {@link dev.bourse.secrets.EncodedRuns} for a nested scan while
 * it arrives; {@link dev.bourse.secrets.Unpacking} bounds all of it together.
 *
 * <p>Regular expressions were rejected for the rules. A linear-time engine needs some 140 ns for
 * each byte of its window, so a file made of nothing but keywords would take a core one second for
 * each 7 MB; and a hand-written check of the shape before it, which makes an expression cheap,
 * leaves it nothing to decide.
 */
@NullMarked
package dev.bourse.secrets;

import org.jspecify.annotations.NullMarked;
