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
 * <p>The validator is our own because it names the first violation and counts an array or object
 * before it looks into it. The schema library (vertx-json-schema) cannot describe a refusal at that
 * cost: its flag output names no field, and its basic output finds all violations of an array that
 * is too long before it names one. {@code SchemaValidatorTest} shows both, and that the two accept
 * the same random values for each schema of the contracts. No pattern of a contract may recurse or
 * backtrack ({@link dev.bourse.contract.PatternRules}, at build time), and each has an explanation
 * for callers ({@code x-accepts}).
 */
@NullMarked
package dev.bourse.contract;

import org.jspecify.annotations.NullMarked;
