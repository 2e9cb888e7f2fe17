package dev.bourse.operator;

import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.Org;
import dev.bourse.org.OrgAdminService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** The operator contract's operations on organizations. */
public final class OrgAdminRoutes {
  private final OrgAdminService orgs;

  public OrgAdminRoutes(OrgAdminService orgs) {
    this.orgs = orgs;
  }

  public void bind(Operations operations) {
    operations
        .bind("listOrgs", this::list)
        .bind("createOrg", this::create)
        .bind("readOrg", call -> orgs.read(call.text("org")).map(org -> Answer.ok(json(org))))
        .bind("updateOrg", this::update)
        .bind(
            "retireOrg",
            call ->
                orgs.retire(call.operator().actor(), call.text("org"))
                    .map(org -> Answer.ok(json(org))));
  }

  private Future<Answer> list(Call call) {
    return orgs.list(call.limit(), call.findText("after"))
        .map(page -> Answer.ok(CommonFields.page("orgs", page, "org_id", OrgAdminRoutes::json)));
  }

  private Future<Answer> create(Call call) {
    JsonObject body = call.body();
    return orgs.create(
            call.operator().actor(),
            body.getString("org_id"),
            body.getString("display"),
            body.getString("kind"))
        .map(org -> Answer.created(json(org)));
  }

  private Future<Answer> update(Call call) {
    JsonObject body = call.body();
    return orgs.update(
            call.operator().actor(),
            call.text("org"),
            Optional.ofNullable(body.getString("display")),
            Optional.ofNullable(body.getString("kind")))
        .map(org -> Answer.ok(json(org)));
  }

  private static JsonObject json(Org org) {
    return new JsonObject()
        .put("org_id", org.orgId())
        .put("display", org.display())
        .put("kind", org.kind())
        .put("created_at", Times.rfc3339(org.createdAtMillis()))
        .put("retired_at", Times.rfc3339OrNull(org.retiredAtMillis()));
  }
}
