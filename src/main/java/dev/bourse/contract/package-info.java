/**
 * The OpenAPI contracts as the service reads them: loaded from the jar, turned into the routing
 * model, and compiled into validators of a request's parameters and body.
 *
 * <p>{@link dev.bourse.contract.Contract} is one document; {@link
 * dev.bourse.contract.ContractFiles} writes it at build time from the YAML that people edit. {@link
 * dev.bourse.contract.OperationContract} names an operation's permitted callers and media types;
 * {@link dev.bourse.contract.Parameters}, {@link dev.bourse.contract.Form} and {@link
 * dev.bourse.json.StrictJson} read a caller's input, and {@link
 * dev.bourse.contract.SchemaValidator} checks it. {@link dev.bourse.contract.ErrorFormat} encodes
 * refusals.
 *
 * <p>The validator is our own because it stops at the first violation and counts before it looks,
 * so that bad input costs no more than good. The schema library judges the same values in the
 * tests; at run time it would find all violations before it named one (32,000 bad items held an
 * event loop for 400 ms), and it needs a lock. No pattern of a contract may recurse or backtrack
 * ({@link dev.bourse.contract.PatternRules}, at build time), and each has an explanation for
 * callers ({@code x-accepts}).
 */
@NullMarked
package dev.bourse.contract;

import org.jspecify.annotations.NullMarked;
