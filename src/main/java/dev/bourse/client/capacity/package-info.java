/**
 * What a team does with capacity from a command line: {@code bourse up}, {@code down}, {@code
 * status}, {@code quote} and {@code logs}.
 *
 * <p>They are the operations of the contract in the order and words in which people need them: a
 * declaration is previewed before it is made ({@link dev.bourse.client.capacity.DeclaredChange}),
 * and made by comparing versions, so that one whose answer is lost is neither made twice nor taken
 * for lost ({@link dev.bourse.client.capacity.Declaring}). The nodes themselves are reached by
 * {@link dev.bourse.client.ssh}.
 */
@NullMarked
package dev.bourse.client.capacity;

import org.jspecify.annotations.NullMarked;
