/**
 * The commands on capacity: {@code bourse up}, {@code down}, {@code status}, {@code quote} and
 * {@code logs}.
 *
 * <p>They combine the contract's operations: a declaration is previewed before it is made ({@link
 * dev.bourse.client.capacity.DeclaredChange}), and made by comparing versions, so that after a lost
 * answer it is neither repeated nor assumed lost ({@link
 * dev.bourse.client.capacity.DeclarationWriter}). {@link dev.bourse.client.ssh} connects to the
 * nodes.
 */
@NullMarked
package dev.bourse.client.capacity;

import org.jspecify.annotations.NullMarked;
