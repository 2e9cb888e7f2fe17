/**
 * {@code bourse admin}: the operators' interface from a command line.
 *
 * <p>{@link dev.bourse.command} builds its commands from the operator contract: a tag is a noun,
 * the first word of an operationId a verb. Two commands are written by hand: verifying a trail,
 * which takes many calls ({@link dev.bourse.admin.AuditVerifyCommand}), and the status screen
 * ({@link dev.bourse.admin.SiteStatusCommand}).
 */
@NullMarked
package dev.bourse.admin;

import org.jspecify.annotations.NullMarked;
