package dev.bourse.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.auction.Bidder.Participation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a clearing costs, and what would be admitted. */
@Tag("fast")
class AuctionPriceTest extends AuctionFixture {
  // The clearing price

  @Test
  void withSeatsForAllEverybodyPaysTheReserve() {
    Clearing clearing = clear(seats(2, "n1", "n2"), bid("a", 900, 1), bid("b", 500, 1));
    assertEquals(RESERVE, clearing.clearingCents());
  }

  @Test
  void theHighestLosingBidIsThePrice() {
    Clearing clearing = clear(seats(2), bid("a", 900, 2), bid("b", 500, 1), bid("c", 400, 1));
    assertEquals(500, clearing.clearingCents());
  }

  @Test
  void aSoleBuyerDoesNotBidAgainstItself() {
    Clearing clearing = clear(seats(2), of("x", bid("a", 900, 3)), of("x", bid("b", 800, 1)));
    assertEquals(RESERVE, clearing.clearingCents());
  }

  @Test
  void aLosingBidCountsAgainstAnotherOrganizationsSeatsOnly() {
    Clearing clearing =
        clear(seats(1), of("x", bid("a", 900, 2)), of("x", bid("b", 800, 1)), bid("c", 300, 1));
    assertEquals(300, clearing.clearingCents());
  }

  @Test
  void aTieAtTheMarginIsThePriceItself() {
    Clearing clearing = clear(seats(1), bid("a", 500, 1), bid("b", 500, 1));
    assertEquals(500, clearing.clearingCents());
  }

  @Test
  void shieldedSeatsAreScarceToo() {
    Clearing clearing =
        clear(
            seats(2),
            bid("a", 200, 1, shielded("a1")),
            as(Participation.STATIC, bid("b", 0, 1, held("b1"))),
            bid("c", 900, 1));
    assertEquals(900, clearing.clearingCents());
  }

  @Test
  void itsOwnLosingBidsPriceNoNodeOfAnOrganization() {
    Clearing clearing =
        clear(
            seats(2),
            of("x", bid("a", 900, 1, held("a1"))),
            of("x", bid("a2", 800, 1)),
            bid("b", 850, 1, held("b1")),
            bid("c", 300, 1));
    assertEquals(800, clearing.clearingCents());
    assertEquals(300L, clearing.centsOf("x"));
    assertEquals(800L, clearing.centsOf("b"));
  }

  @Test
  void raisingACeilingByItselfRaisesNoPriceOfTheOwn() {
    Clearing clearing =
        clear(
            seats(2),
            of("x", bid("a", 900, 4, held("a1"))),
            bid("b", 900, 1, held("b1")),
            bid("c", 100, 1));
    assertEquals(100L, clearing.centsOf("x"));
    assertEquals(900L, clearing.centsOf("b"));
  }

  @Test
  void aGangForTheWholePoolPricesNobodyWhoseSeatsWouldNotCompleteIt() {
    Clearing clearing =
        clear(
            seats(4),
            bid("a", 900, 1, held("a1")),
            bid("b", 900, 1, held("b1")),
            bid("c", 900, 2, held("c1"), held("c2")),
            gang(4, bid("g", 899, 4)));
    assertEquals(RESERVE, clearing.clearingCents());
  }

  @Test
  void aGangPricesWhomItsMinimumWouldDisplace() {
    Clearing clearing =
        clear(
            seats(3),
            bid("a", 900, 2, held("a1"), held("a2")),
            bid("b", 900, 1, held("b1")),
            gang(2, bid("g", 800, 2)));
    assertEquals(800L, clearing.centsOf("a"));
    assertEquals(RESERVE, clearing.centsOf("b"));
    assertEquals(800L, clearing.clearingCents());
  }

  @Test
  void underANoticeWhatIsHeldMakesAPriceAndWhatIsNotHeldMakesNone() {
    Bidder noticed = as(Participation.INCUMBENTS_ONLY, bid("b", 800, 3, held("b1")));
    assertEquals(800, clear(seats(1), bid("a", 900, 1), noticed).clearingCents());
    assertEquals(RESERVE, clear(seats(2), bid("a", 900, 1), noticed).clearingCents());
  }

  // The admission price

  @Test
  void whileASeatIsLeftTheReserveAdmits() {
    assertEquals(RESERVE, clear(seats(2), bid("a", 900, 1)).admissionCents());
  }

  @Test
  void oneCentMoreThanTheWeakestIncumbentAdmits() {
    assertEquals(501, clear(seats(1), bid("a", 500, 1, held("a1"))).admissionCents());
  }

  @Test
  void oneCentMoreThanAFirstSeatAdmits() {
    assertEquals(501, clear(seats(2), bid("a", 500, 1), bid("b", 500, 1)).admissionCents());
  }

  @Test
  void theWeakestCeilingAdmitsWhenItWonSecondSeats() {
    assertEquals(500, clear(seats(2), bid("a", 500, 2)).admissionCents());
  }

  @Test
  void shieldedSeatsAdmitNobody() {
    assertNull(clear(seats(1), bid("a", 200, 1, shielded("a1"))).admissionCents());
  }

  @Test
  void aPriceAboveTheCapAdmitsNobody() {
    assertNull(clear(seats(1), bid("a", CAP, 1, held("a1"))).admissionCents());
    assertEquals(CAP, clear(seats(1), bid("a", CAP - 1, 1, held("a1"))).admissionCents());
    assertEquals(CAP, clear(seats(2), bid("a", CAP, 2)).admissionCents());
  }
}
