package dev.bourse.console;

import dev.bourse.core.ApiException;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.json.JsonRecord;
import dev.bourse.signin.ConnectedApplications;
import dev.bourse.signin.ConnectedApplications.Application;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** The operations on the applications that act for the calling member. */
public final class ApplicationRoutes {
  private final ConnectedApplications applications;

  public ApplicationRoutes(ConnectedApplications applications) {
    this.applications = applications;
  }

  public void bind(Operations operations) {
    operations
        .ok("listApplications", this::list, ApplicationRoutes::json)
        .ok("disconnectOneApplication", this::disconnect, done -> SessionRoutes.done())
        .ok("disconnectApplications", this::disconnectAll, done -> SessionRoutes.done());
  }

  private Future<List<Application>> list(Call call) {
    return applications.list(call.principal().org().orgId(), call.principal().requireMember());
  }

  private Future<Void> disconnect(Call call) {
    String id = call.text("application_id");
    return applications
        .revoke(call.principal().org().orgId(), call.principal().requireMember(), id)
        .compose(
            had ->
                had
                    ? Future.succeededFuture()
                    : Future.failedFuture(ApiException.notFound("application", id)));
  }

  private Future<Void> disconnectAll(Call call) {
    return applications.revokeAll(
        call.principal().org().orgId(), call.principal().requireMember(), List.of());
  }

  private static JsonObject json(List<Application> found) {
    return new JsonObject()
        .put("applications", new JsonArray(found.stream().map(ApplicationRoutes::json).toList()));
  }

  private static JsonObject json(Application application) {
    return new JsonObject()
        .put("application_id", application.id())
        .put("name", application.name())
        .put("scopes", new JsonArray(application.scopeLabels()))
        .put("may", application.scopes())
        .put("created_at", Times.rfc3339(application.sinceMillis()))
        .put("last_used_at", Times.rfc3339OrNull(application.usedAtMillis()))
        .put("expires_at", Times.rfc3339(application.expiresAtMillis()))
        .put("limits", JsonRecord.treeOrNull(application.limits().toJson()));
  }
}
