package dev.bourse.contract;

import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.Operation;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads and checks the inputs of one operation. Immutable; all event loops share one instance.
 *
 * @param takesBytes whether its body is bytes of any type, which the operation reads itself
 * @param body the body's schema; null when the operation takes none
 * @param fields the names of the body's fields
 * @param isTolerant whether it ignores unknown inputs instead of refusing them
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
