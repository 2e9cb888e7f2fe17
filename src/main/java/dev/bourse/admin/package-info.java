/**
 * {@code bourse admin}: the operators' interface from a command line.
 *
 * <p>Its commands are built from the operator contract by {@link dev.bourse.command}: a tag is a
 * noun, the first word of an operationId a verb. Two commands are of their own: verifying a trail,
 * which takes many calls ({@link dev.bourse.admin.VerifyCommand}), and the screen that tells how
 * the whole site stands ({@link dev.bourse.admin.StatusCommand}).
 */
@NullMarked
package dev.bourse.admin;

import org.jspecify.annotations.NullMarked;
