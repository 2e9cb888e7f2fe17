package dev.bourse.contract;

import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.Operation;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How what an operation is sent is read and checked. Changes nothing once made; all event loops
 * share one.
 *
 * @param takesBytes whether its body is bytes of any type, which the operation reads itself
 * @param body the body's schema; null when the operation takes none
 * @param fields the names of the body's fields
 * @param isTolerant whether it leaves out what it does not know instead of refusing it
 */
public record Inputs(
    Parameters parameters,
    boolean takesBytes,
    @Nullable SchemaValidator body,
    Set<String> fields,
    boolean isTolerant) {

  static Inputs of(Operation model) {
    boolean isTolerant = model.getOpenAPIModel().getBoolean(OperationContract.TOLERANT, false);
    boolean takesBytes = OperationContract.takesBytes(model);
    JsonObject schema =
        model.getRequestBody() == null || takesBytes ? null : OperationContract.bodySchema(model);
    return new Inputs(
        new Parameters(model, isTolerant),
        takesBytes,
        schema == null ? null : new SchemaValidator(schema),
        schema == null
            ? Set.of()
            : Set.copyOf(schema.getJsonObject("properties", new JsonObject()).fieldNames()),
        isTolerant);
  }
}
