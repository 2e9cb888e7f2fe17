package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.org.OrgService;
import dev.bourse.org.WhoamiView;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Shows the member's identity, clusters and limits. */
public final class WhoamiTool implements Tool {
  private final OrgService org;
  private final WhoamiView whoami;

  public WhoamiTool(OrgService org, WhoamiView whoami) {
    this.org = org;
    this.whoami = whoami;
  }

  @Override
  public String name() {
    return "whoami";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.empty();
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    return org.listClusters(caller)
        .compose(
            clusters ->
                org.readLimits(caller)
                    .map(
                        limits ->
                            withoutCredential(whoami.toJson(caller, clusters, limits).toTree())));
  }

  /** Returns the answer without the properties that describe the credential. */
  private static Buffer withoutCredential(JsonObject answer) {
    answer.remove("subject");
    answer.remove("token_id");
    answer.remove("cluster");
    return answer.toBuffer();
  }
}
