/// The names of the demo's shop, all of them invented.
enum DemoCast {
    static let shop = "demo"
    static let challenge = "demo"
    /// The first two of them work all day.
    static let barbers = ["dario", "ines", "femi", "rosa"]
    static let customers = [
        "maya", "omar", "lena", "kofi", "yuki", "sara", "ivan", "noor", "theo", "mila", "juan", "aisha", "piet", "zoe",
    ]
    static let tracks: [(name: String, artist: String)] = [
        ("Night Bus", "The Clippers"), ("Second Chair", "Low Fade"), ("Clipper Season", "Barber & Sons"),
        ("Hot Towel", "Aunt Velvet"), ("Pomade", "Widow's Peak"), ("Straight Razor", "The Strops"),
        ("Two on the Sides", "Number One Guard"), ("Talc", "Powder Room"), ("Mirror, Mirror", "Back of the Head"),
        ("Walk-In", "No Appointment"), ("Last Chair Left", "Closing Time Trio"), ("Sideburns", "Teddy and the Boys"),
        ("Neckline", "Taper"), ("Cowlick", "Unruly"), ("Spinning Pole", "Red White Blue"),
        ("Five O'Clock", "The Shadows Between"), ("Bay Rum", "Harbour Quartet"), ("Scissor Work", "Over Comb"),
        ("The Usual", "Regulars"), ("Just a Trim", "Half an Inch"), ("Buzz", "Zero Guard"), ("Curtains", "Middle Part"),
        ("Loose Hair", "The Brooms"), ("Tip Jar", "Small Change"),
    ]
    static let posts = [
        "Fresh fade, fresh week. Come by.", "The kettle is on and the second chair is free.",
        "Tried the new matte clay today: holds, and does not shine.", "Who put Hot Towel on three times? We know.",
        "Beard trims are half price until noon.", "Ten years of this shop next month. Thank you.",
    ]
}
