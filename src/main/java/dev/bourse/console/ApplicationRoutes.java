package dev.bourse.console;

import dev.bourse.core.ApiException;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.console.ApplicationJson;
import dev.bourse.schemas.console.ApplicationListJson;
import dev.bourse.signin.ConnectedApplications;
import dev.bourse.signin.ConnectedApplications.Application;
import io.vertx.core.Future;
import java.util.List;

/** The operations on the applications that act for the calling member. */
public final class ApplicationRoutes {
  private final ConnectedApplications applications;

  public ApplicationRoutes(ConnectedApplications applications) {
    this.applications = applications;
  }

  public void bind(Operations operations) {
    operations
        .ok("listApplications", call -> list(call).map(ApplicationRoutes::toJson))
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

  static ApplicationListJson toJson(List<Application> found) {
    return new ApplicationListJson(
        found.stream()
            .map(
                application ->
                    new ApplicationJson(
                        application.id(),
                        application.name(),
                        application.scopeLabels(),
                        application.scopes(),
                        application.sinceMillis(),
                        application.usedAtMillis(),
                        application.expiresAtMillis(),
                        application.limits().toJson()))
            .toList());
  }
}
