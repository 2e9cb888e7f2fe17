/**
 * {@code bourse admin}: the operators' interface from a command line.
 *
 * <p>Its commands are built from the operator contract by {@link dev.bourse.command}: a tag is a
 * noun, the first word of an operationId a verb. Verifying a trail, which takes many calls, is the
 * one command of its own ({@link dev.bourse.admin.VerifyCommand}).
 */
@NullMarked
package dev.bourse.admin;

import org.jspecify.annotations.NullMarked;
