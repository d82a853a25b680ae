// the button is pressed for people; programs that only fetch the address do not use the link up
document.getElementById("open-form").submit();
