//! The names of the emoji for reactions.

/// The supported emoji: common ones, with the names that GitLab servers use.
const NAMES: &str = "100 adult airplane alarm_clock alien ambulance anchor angry apple art astonished baby balloon banana bangbang \
    bar_chart basketball bat battery bear bee beer beers bell bike bird birthday black_heart blue_heart blush bomb \
    book bookmark books boom brain broken_heart bug bulb butterfly cactus cake calendar call_me camera car cat cd \
    champagne chart_with_downwards_trend chart_with_upwards_trend checkered_flag cherries chicken clap clipboard \
    clock3 cloud cocktail coffee cold_sweat computer confetti_ball confused construction construction_worker cookie \
    cool cow crab crown cry cyclone dancer dart date disappointed dizzy dog dolphin door duck eagle ear \
    earth_africa elephant email evergreen_tree exclamation exploding_head expressionless eyes facepalm fearful \
    fingers_crossed fire fish fist flashlight floppy_disk flushed football four_leaf_clover fox fries frog frowning \
    game_die gear gem ghost gift green_heart grin grinning hamburger hammer hammer_and_wrench hamster handshake \
    hear_no_evil heart heart_eyes heavy_check_mark heavy_minus_sign heavy_plus_sign horse hot_pepper hourglass \
    hugging hushed inbox_tray information_source innocent joy key keyboard kissing_heart koala label laughing link \
    lion lock loudspeaker mag mailbox maple_leaf medal memo metal microscope money_with_wings monkey moon mouse \
    muscle mushroom musical_note nerd neutral_face no_bell no_entry no_entry_sign notebook notes nut_and_bolt ocean \
    octopus ok ok_hand open_mouth orange_heart outbox_tray owl package page_facing_up panda_face paperclip \
    party_popper pencil pencil2 penguin pensive pig pill pineapple pizza point_down point_left point_right point_up \
    poop popcorn pray punch purple_heart pushpin question rabbit rage rainbow raised_hand raised_hands recycle \
    red_circle relaxed relieved repeat robot rocket rofl rose rotating_light runner sad scissors scream scroll \
    see_no_evil seedling shield ship shrug skull sleeping sleuth slight_smile smile smiley smiling_imp smirk snail \
    snake snowflake sob soccer sparkles sparkling_heart speak_no_evil speech_balloon star star2 stop_sign stopwatch \
    strawberry stuck_out_tongue stuck_out_tongue_winking_eye sunflower sunglasses sunny sweat_drops sweat_smile \
    taco tada tea telescope test_tube thinking thought_balloon thumbsdown thumbsup ticket tiger tools triumph \
    trophy tulip turtle two_hearts umbrella unamused unicorn unlock upside_down v vertical_traffic_light warning \
    wastebasket watermelon wave whale white_check_mark wine_glass wink wolf worried wrench x yellow_heart yum zap \
    zzz";

/// Returns the stored name of an emoji; `None` if it is not supported.
pub fn emoji(name: &str) -> Option<&str> {
    match name {
        "+1" => Some("thumbsup"),
        "-1" => Some("thumbsdown"),
        name => NAMES.split_ascii_whitespace().find(|known| *known == name),
    }
}

/// Returns the emoji if a text consists only of it: `:thumbsup:`.
pub fn lone_emoji(body: &str) -> Option<&str> {
    emoji(body.trim().strip_prefix(':')?.strip_suffix(':')?)
}
