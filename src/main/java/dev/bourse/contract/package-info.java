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
 * so bad input costs no more than good. The schema library (vertx-json-schema) judges the same
 * values in {@code SchemaValidatorTest}. It cannot describe a refusal at run time: its flag output
 * names no field, and its basic output finds all violations before it names one, as that test
 * shows. An array of 32,000 bad strings took it 1 s and our validator 8 microseconds, because the
 * array is too long; a good capacity declaration took 18 and 4 microseconds. No pattern of a
 * contract may recurse or backtrack ({@link dev.bourse.contract.PatternRules}, at build time), and
 * each has an explanation for callers ({@code x-accepts}).
 */
@NullMarked
package dev.bourse.contract;

import org.jspecify.annotations.NullMarked;
