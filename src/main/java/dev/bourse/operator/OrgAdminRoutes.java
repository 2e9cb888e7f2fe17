package dev.bourse.operator;

import dev.bourse.billing.BillingAdminService;
import dev.bourse.core.Page;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.json.JsonRecord;
import dev.bourse.market.LoginIdStore;
import dev.bourse.org.Org;
import dev.bourse.org.OrgAdminService;
import dev.bourse.schemas.operator.OrgChangeJson;
import dev.bourse.schemas.operator.OrgCreationJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Operations of the operator contract on organizations. */
public final class OrgAdminRoutes {
  private final OrgAdminService orgs;
  private final BillingAdminService billing;
  private final int maxClusters;
  private final Optional<LoginIdStore> loginIds;

  /**
   * @param billing reads the holds on organizations
   * @param maxClusters default limit of an organization's clusters
   * @param loginIds assigns organizations' group ids; empty if no machine of the service uses them
   */
  public OrgAdminRoutes(
      OrgAdminService orgs,
      BillingAdminService billing,
      int maxClusters,
      Optional<LoginIdStore> loginIds) {
    this.orgs = orgs;
    this.billing = billing;
    this.maxClusters = maxClusters;
    this.loginIds = loginIds;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listOrgs",
            call ->
                call.findText("held")
                    .map(held -> listHeld(call, held))
                    .orElseGet(() -> listAll(call)),
            Function.identity())
        .created("createOrg", this::create, this::json)
        .ok("readOrg", call -> read(call.text("org")), Function.identity())
        .ok("updateOrg", this::update, this::json)
        .ok("retireOrg", call -> orgs.retire(call.actor(), call.text("org")), this::json);
  }

  private Future<Org> create(Call call) {
    OrgCreationJson sent = OrgCreationJson.read(call.body());
    return orgs.create(
            call.actor(),
            sent.orgId(),
            sent.display(),
            sent.kind(),
            Optional.ofNullable(sent.maxClusters()))
        .compose(this::withAssignedGid);
  }

  private Future<Org> update(Call call) {
    OrgChangeJson sent = OrgChangeJson.read(call.body());
    return orgs.update(
        call.actor(),
        call.text("org"),
        Optional.ofNullable(sent.display()),
        Optional.ofNullable(sent.kind()),
        Optional.ofNullable(sent.maxClusters()));
  }

  private Future<JsonObject> listAll(Call call) {
    return orgs.list(call.limit(), call.findText("after"))
        .map(CommonFields.page("orgs", "org_id", this::json));
  }

  private Future<JsonObject> listHeld(Call call, String held) {
    return billing
        .listHeld(
            BillingAdminService.HeldBy.valueOf(held.toUpperCase(Locale.ROOT)),
            call.limit(),
            call.findText("after"))
        .compose(
            page ->
                orgs.list(page.items().stream().map(BillingAdminService.HeldOrg::orgId).toList())
                    .map(found -> held(page, found)));
  }

  private JsonObject held(Page<BillingAdminService.HeldOrg> page, List<Org> found) {
    Map<String, Org> byId = found.stream().collect(Collectors.toMap(Org::orgId, org -> org));
    return CommonFields.page(
        "orgs",
        page,
        "org_id",
        one ->
            json(Objects.requireNonNull(byId.get(one.orgId()), one.orgId()))
                .put("hold", JsonRecord.treeOrNull(one.hold()))
                .put("operator_hold", JsonRecord.treeOrNull(one.operatorHold())));
  }

  private Future<JsonObject> read(String orgId) {
    return orgs.read(orgId)
        .compose(
            org ->
                billing
                    .readHold(orgId)
                    .map(
                        hold ->
                            json(org).put("operator_hold", JsonRecord.treeOrNull(hold.toJson()))))
        .compose(
            json ->
                loginIds
                    .map(store -> withGid(json, store, orgId))
                    .orElseGet(() -> Future.succeededFuture(json)));
  }

  private Future<Org> withAssignedGid(Org org) {
    return loginIds
        .map(store -> store.assignGid(org.orgId()))
        .orElseGet(Future::succeededFuture)
        .map(org);
  }

  private static Future<JsonObject> withGid(JsonObject json, LoginIdStore store, String orgId) {
    return store.findGid(orgId).map(found -> found.map(gid -> json.put("gid", gid)).orElse(json));
  }

  private JsonObject json(Org org) {
    return new JsonObject()
        .put("org_id", org.orgId())
        .put("display", org.display())
        .put("kind", org.kind())
        .put("max_clusters", org.maxClusters() == null ? maxClusters : org.maxClusters())
        .put("created_at", Times.rfc3339(org.createdAtMillis()))
        .put("retired_at", Times.rfc3339OrNull(org.retiredAtMillis()));
  }
}
