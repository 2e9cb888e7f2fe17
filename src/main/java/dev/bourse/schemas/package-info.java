/**
 * The home of the records that the build generates from the contracts. Each object among the
 * component schemas of a converted contract is a record in the package of its contract, such as
 * {@code schemas.vm.CapacityStateJson} for {@code CapacityState} of {@code openapi/vm.yaml};
 * schemas that several contracts share are in {@code schemas.common}. The suffix keeps a record
 * apart from the model type of the same name.
 *
 * <p>{@code src/build/java/dev/bourse/build/SchemaTypes.java} generates them before the compiler
 * runs, into {@code target/generated-sources/schemas}; its list {@code CONVERTED} names the
 * contracts. A record has the members of its schema in the contract's order, and its description as
 * Javadoc. Because the only constructor takes every member, a property that is added to an answer
 * fails the compilation of the code that fills the record. A property that is added to a request
 * compiles; {@code ArchitectureTest} fails while no code reads it. Members of one type that change
 * places compile as well; tests compare the text of answers in which each member has its own value.
 *
 * <p>Types of members:
 *
 * <ul>
 *   <li>A time of an answer is a {@code long} with the suffix {@code Millis}. A time of a request
 *       is text, because its parse has its own error.
 *   <li>A number of an answer is a {@code double}, which is exact for cents below 2^53 (see {@link
 *       dev.bourse.core.Price}); a number of a request is a {@code BigDecimal} with the digits that
 *       were sent.
 *   <li>A truth value whose name is a Java keyword has the prefix {@code is}.
 *   <li>An integer is an {@code int}, or a {@code long} with the format {@code int64}.
 *   <li>In an answer a required member that is null is written as null, and an optional member that
 *       is null is left out.
 *   <li>In a request an optional member that is null is absent or null. A member with a default is
 *       never null, because the validator has filled the default in. A member that the schema lets
 *       be null is a {@link dev.bourse.json.Setting}, which keeps absent and null apart, unless it
 *       is required. A value that may be a string or a truth value is an {@code Object}.
 *   <li>An object that a property defines in its place is a record named after the schema and the
 *       property, such as {@code ClusterChangeEnvironmentJson}.
 *   <li>An error in an answer ({@code ApiError}) is the map of {@link
 *       dev.bourse.core.ApiException#fields}, because its members depend on its code.
 * </ul>
 *
 * <p>Records of answers have {@code write}, which writes bytes without a tree or reflection ({@link
 * dev.bourse.json.JsonBytes}). Records of requests have {@code read}, which relies on the
 * contract's validator and adds no rules ({@link dev.bourse.json.JsonReader}). A schema that
 * requests and answers share has both, and no member with two Java types. The generator stops at a
 * schema that it has no form for, such as a nullable array or a map of objects.
 *
 * <p>Not converted yet: the contracts that are not in the list, whose routes still write and read
 * trees, except for the schemas in its list {@code PARTS}, which has most requests of the console
 * and of operators; and the answers that the command line reads, because its reader must accept the
 * members that later releases add and the ones that earlier releases lack.
 *
 * <p>Rejected: generators of whole clients and servers, whose types need a mapper at run time and
 * copy their names into every layer; sources that are committed, which drift from the contract; and
 * a builder with one required step for each member, which names each value but adds an interface
 * for each of them.
 */
@NullMarked
package dev.bourse.schemas;

import org.jspecify.annotations.NullMarked;
