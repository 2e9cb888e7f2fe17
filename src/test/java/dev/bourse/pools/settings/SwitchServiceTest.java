package dev.bourse.pools.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.pools.Switches;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The platform-wide switches, while the store is slow or away. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SwitchServiceTest extends StoreFixture {
  private final Clusters clusters = new Clusters(new Switches(true, false, false), clock);
  private SwitchService switches;

  @BeforeEach
  void configure() {
    switches = new SwitchService(database, clusters, clock);
  }

  private Future<Switches> armWrites(boolean armed) {
    return switches.writeSwitches(
        "operator:ann", Optional.of(armed), Optional.empty(), Optional.empty());
  }

  @Test
  void anEarlierReadingCannotUndoWhatIsThrownAfterIt() throws Exception {
    Promise<Void> late = Promise.promise();
    Future<Void> found = holdNextRead(late.future());
    Future<Switches> before = switches.load();
    await(found);
    Future<Switches> thrown = armWrites(false);
    eventually("the switch is stored", () -> rows() == 1);
    late.complete();
    assertEquals(true, await(before).writesArmed());
    assertEquals(false, await(thrown).writesArmed());
    assertEquals(false, switches.readSwitches().writesArmed());
  }

  private int rows() {
    try {
      return texts("SELECT action FROM audit").size();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aSwitchThatIsStoredButNotReadBackIsNotReportedAsUnwritten() throws Exception {
    failNextReads(1);
    ApiException refusal = fails(ApiException.class, armWrites(false));
    assertEquals(ErrorCode.OVERLOADED, refusal.code());
    assertTrue(refusal.detail().startsWith("the change is stored"), refusal.detail());
    assertEquals(false, await(switches.load()).writesArmed());
  }

  @Test
  void aSwitchThatIsNotStoredStaysAsItWas() throws Exception {
    failNextCommits(1);
    fails(StoreUnavailableException.class, armWrites(false));
    assertEquals(true, await(switches.load()).writesArmed());
  }

  @Test
  void aReadingThatFailedDoesNotStopTheNext() throws Exception {
    failNextReads(1);
    fails(StoreUnavailableException.class, switches.load());
    assertEquals(new Switches(true, false, false), await(switches.load()));
  }
}
